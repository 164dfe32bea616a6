package app_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

func TestEmbedsOfEveryFormSurviveARename(t *testing.T) {
	files := map[string]string{
		"img/i.png": "\x89PNG", "n.md": "![[i.png]] ![[img/i.png|50]] ![x](img/i.png) ![](<img/i.png>) [l](img/i.png \"t\")\n",
		"c.canvas": `{"nodes":[{"id":"1","type":"file","file":"img/i.png"}],"edges":[]}`,
	}
	a, dir := writable(t, files, true)
	var out movedOut
	if err := call(t, a, "move_attachment", args{"from": "img/i.png", "to": "img/j k.png"}, &out); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{
		"img/j k.png": "\x89PNG", "n.md": "![[j k.png]] ![[img/j k.png|50]] ![x](img/j%20k.png) ![](<img/j k.png>) [l](img/j%20k.png \"t\")\n",
		"c.canvas": `{"nodes":[{"id":"1","type":"file","file":"img/j k.png"}],"edges":[]}`,
	})
	if out.References.Notes != 2 || out.References.Links != 6 {
		t.Errorf("%+v", out.References)
	}
	back(t, a, dir, out.ChangeID, files)
}

func TestToolsOfAttachmentsTouchNoNote(t *testing.T) {
	files := map[string]string{"n.md": "text\n", "m.md": "[[n]]\n", "p.png": "x", "F/x.md": "x\n"}
	a, dir := writable(t, files, true)
	for _, tt := range []struct {
		tool string
		in   args
	}{
		{"move_attachment", args{"from": "n.md", "to": "o.md"}},
		{"move_attachment", args{"from": "p.png", "to": "p.md"}},
		{"move_attachment", args{"from": "F", "to": "G"}},
		{"move_note", args{"from": "n.md", "to": "n.png"}},
		{"move_note", args{"from": "p.png", "to": "q.png"}},
		{"delete_attachment", args{"path": "n.md"}},
		{"delete_attachment", args{"path": "F"}},
		{"put_attachment", args{"path": "new.md", "content": "eQ=="}},
		{"put_attachment", args{"path": "run.js", "content": "eQ=="}},
		{"put_attachment", args{"path": "b.canvas", "content": "eQ=="}},
		{"put_attachment", args{"path": "q.png", "content": "no base64!"}},
	} {
		var out movedOut
		if err := call(t, a, tt.tool, tt.in, &out); code(err) != fault.InvalidInput {
			t.Errorf("%s %v: %v", tt.tool, tt.in, err)
		}
	}
	holds(t, dir, files)
	only(t, dir, "F/x.md", "m.md", "n.md", "p.png")
}

func TestAnAttachmentIsDeletedWithWhoRefersToIt(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": `{"trashOption":"local"}`, "p.png": "x", "a.md": "![[p.png]] and [it](p.png)\n", "b.md": "`![[p.png]]`\n",
		"c.canvas": `{"nodes":[{"id":"1","type":"file","file":"p.png"}],"edges":[]}`, "Shut/s.md": "![[p.png]]\n", "props.md": "---\ncover: \"[[p.png]]\"\n---\n",
	}
	a, dir := writable(t, files, true, `, rules: [{glob: "Shut/**", verbs: {read: hide}}]`)
	var out struct {
		written
		References []string
		TrashedTo  *string `json:"trashed_to"`
		Size       int
	}
	if err := call(t, a, "delete_attachment", args{"path": "p.png"}, &out); err != nil {
		t.Fatal(err)
	}
	if strings.Join(out.References, " ") != "a.md c.canvas props.md" || out.Size != 1 || out.TrashedTo == nil || !strings.Contains(out.Summary, "4 links to it lead nowhere") {
		t.Errorf("%+v", out)
	}
	holds(t, dir, map[string]string{".trash/p.png": "x", "a.md": files["a.md"], "Shut/s.md": files["Shut/s.md"]})
	back(t, a, dir, out.ChangeID, files)
	plant(t, dir, map[string]string{"what?.a:b": "a name that no new file may have"})
	if err := call(t, a, "delete_attachment", args{"path": "what?.a:b"}, &out); err != nil {
		t.Error(err)
	}
}

func TestAnAttachmentIsWrittenByteForByte(t *testing.T) {
	racing.Skips(t)
	picture := "\x89PNG\r\n\x1a\n\x00<%\xff\xfe"
	a, dir := writable(t, map[string]string{"a.md": "a\n"}, false)
	var out written
	in := args{"path": "img/new.png", "content": "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(picture))}
	if err := call(t, a, "put_attachment", in, &out); err != nil { // no bytes of a picture are code
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"img/new.png": picture})
	if info, err := os.Stat(filepath.Join(dir, "img/new.png")); err != nil || info.Mode().Perm() == 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := call(t, a, "put_attachment", in, &out); code(err) != fault.NoteExists {
		t.Error(err)
	}
	in["mode"] = "overwrite"
	in["path"] = "img/none.png"
	if err := call(t, a, "put_attachment", in, &out); code(err) != fault.NoteNotFound {
		t.Error(err)
	}
	in["content"] = base64.RawURLEncoding.EncodeToString(make([]byte, 10_000_001))
	in["mode"] = "upsert"
	if err := call(t, a, "put_attachment", in, &out); code(err) != fault.InvalidInput {
		t.Error(err)
	}
}
