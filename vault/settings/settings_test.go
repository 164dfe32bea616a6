package settings

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// app is a reader of a config folder whose app.json holds text.
func app(text string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if name != "app.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

func TestLoad(t *testing.T) {
	got := Load(app("\ufeff" + `{
		"newLinkFormat": "relative", "useMarkdownLinks": true, "attachmentFolderPath": "./_media",
		"newFileLocation": "folder", "newFileFolderPath": "Inbox", "alwaysUpdateLinks": true,
		"trashOption": "local", "userIgnoreFilters": ["Old/"], "showUnsupportedFiles": true,
		"promptDelete": false, "aKeyOfLater": {"x": null}
	}`))
	want := Settings{
		NewLinkFormat: Relative, UseMarkdownLinks: true, AttachmentFolder: "./_media",
		NewFileLocation: InFolder, NewFileFolder: "Inbox", AlwaysUpdateLinks: true,
		Trash: TrashLocal, IgnoreFilters: []string{"Old/"}, ShowUnsupportedFiles: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedSettingsAreDefaultsAndNamed(t *testing.T) {
	tests := []struct {
		name, text string
		problem    string // "" for none
	}{
		{"nothing set", "{}", ""},
		{"not JSON", "{ not json", "app.json is not"},
		{"half written", `{"trashOption": "loc`, "app.json is not"},
		{"empty file", "", "app.json is not"},
		{"null", "null", "app.json is not"},
		{"an array", "[]", "app.json is not"},
		{"null value", `{"trashOption": null}`, "trashOption"},
		{"foreign type", `{"useMarkdownLinks": "yes"}`, "useMarkdownLinks"},
		{"foreign list", `{"userIgnoreFilters": ["a", 1]}`, "userIgnoreFilters"},
		{"unknown choice", `{"newLinkFormat": "longest"}`, "longest"},
		{"attachments outside the vault", `{"attachmentFolderPath": "../x"}`, "attachmentFolderPath"},
		{"attachments outside by the note", `{"attachmentFolderPath": "./../../x"}`, "attachmentFolderPath"},
		{"attachments in a dot folder", `{"attachmentFolderPath": "/.obsidian"}`, "attachmentFolderPath"},
		{"new notes outside", `{"newFileFolderPath": "a/../../b"}`, "newFileFolderPath"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Load(app(tt.text))
			problems := strings.Join(got.Problems, "\n")
			if (tt.problem == "") != (problems == "") || !strings.Contains(problems, tt.problem) {
				t.Errorf("problems %q, want %q", problems, tt.problem)
			}
			got.Problems = nil
			if diff := cmp.Diff(Default(), got, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOneBadKeyLeavesTheOthers(t *testing.T) {
	got := Load(app(`{"trashOption": 1, "useMarkdownLinks": true}`))
	if !got.UseMarkdownLinks || got.Trash != TrashSystem || len(got.Problems) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestUnreadableSettings(t *testing.T) {
	if got := Load(func(string) ([]byte, error) { return nil, fs.ErrNotExist }); len(got.Problems) != 0 {
		t.Errorf("missing: %v", got.Problems)
	}
	got := Load(func(string) ([]byte, error) { return nil, errors.New("open /home/ana/.obsidian/app.json: denied") })
	if len(got.Problems) != 1 || strings.Contains(got.Problems[0], "ana") {
		t.Errorf("got %v", got.Problems)
	}
}

func TestAttachmentFolderFor(t *testing.T) {
	tests := []struct{ setting, note, want string }{
		{"", "log/day.md", ""},
		{"/", "log/day.md", ""},
		{"./", "log/day.md", "log"},
		{"./", "day.md", ""},
		{"./_media", "log/2031/day.md", "log/2031/_media"},
		{"./_media/", "day.md", "_media"},
		{"./a/b", "x/day.md", "x/a/b"},
		{"Files", "log/day.md", "Files"},
		{"/Files//Pictures/", "log/day.md", "Files/Pictures"},
		{"My\u00a0Files", "day.md", "My Files"},
		{"Cafe\u0301", "day.md", "Caf\u00e9"},
	}
	for _, tt := range tests {
		s := Load(app(`{"attachmentFolderPath": "` + tt.setting + `"}`))
		if got := s.AttachmentFolderFor(tt.note); got != tt.want {
			t.Errorf("%q for %q: got %q, want %q", tt.setting, tt.note, got, tt.want)
		}
	}
	if got := Default().AttachmentFolderFor("log/day.md"); got != "" {
		t.Errorf("default: got %q", got)
	}
}

func TestNewFileFolderFor(t *testing.T) {
	tests := []struct{ text, current, want string }{
		{`{}`, "log/day.md", ""},
		{`{"newFileLocation": "current"}`, "log/day.md", "log"},
		{`{"newFileLocation": "current"}`, "", ""},
		{`{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}`, "log/day.md", "Inbox"},
		{`{"newFileLocation": "folder", "newFileFolderPath": "/"}`, "log/day.md", ""},
		{`{"newFileLocation": "folder", "newFileFolderPath": "./Inbox/"}`, "log/day.md", "Inbox"},
		{`{"newFileLocation": "root", "newFileFolderPath": "Inbox"}`, "log/day.md", ""},
	}
	for _, tt := range tests {
		if got := Load(app(tt.text)).NewFileFolderFor(tt.current); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestExcluded(t *testing.T) {
	s := Load(app(`{"userIgnoreFilters": ["Templates/", "READ", "/\\.tmp\\./", "/(?<=x)y/", "", "Caf\u0065\u0301/", "a+b/"]}`))
	tests := []struct {
		path string
		want bool
	}{
		{"Templates/day.md", true},
		{"templates/day.md", true},
		{"Templates.md", false},
		{"Other/Templates/day.md", false},
		{"README.md", true},
		{"a/b.tmp.md", true},
		{"xy.md", false},
		{"Caf\u00e9/a.md", true},
		{"a+b/c.md", true},
		{"aab/c.md", false},
	}
	for _, tt := range tests {
		if got := s.Excluded(tt.path); got != tt.want {
			t.Errorf("%q: got %v", tt.path, got)
		}
	}
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "(?<=x)y") {
		t.Errorf("problems: %v", s.Problems)
	}
	if Default().Excluded("a.md") {
		t.Error("the default excludes something")
	}
}
