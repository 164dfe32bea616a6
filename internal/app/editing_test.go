package app_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/fault"
	"vault-mcp/internal/racing"
)

// edits are calls that change a note, with what it says before and after.
type edits []struct {
	name, tool string
	args       args
	old, want  string
	code       fault.Code // of a refusal; then want is not looked at
}

// run makes each call on a note of its own, n.md, and looks at every byte.
func (es edits) run(t *testing.T) {
	t.Helper()
	for i, e := range es {
		if racing.Thins(i) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			a, dir := writable(t, map[string]string{"n.md": e.old}, false)
			in := args{"path": "n.md"}
			maps.Copy(in, e.args)
			want := e.want
			if e.code != "" {
				want = e.old
			}
			var out written
			if err := call(t, a, e.tool, in, &out); code(err) != e.code {
				t.Fatalf("%v, want %q", err, e.code)
			}
			if got := content(t, dir, "n.md"); got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
			only(t, dir, "n.md")
		})
	}
}

func TestPropertyEditsHarmNothing(t *testing.T) {
	set := func(key string, value any) args { return args{"operation": "set", "key": key, "value": value} }
	edits{
		{"comments between keys are dropped", "update_frontmatter", set("b", 3),
			"---\n# head\na: 1 # one\n\n# between\nb: 2 # two\n# foot\n---\ntext\n", "---\n# head\na: 1 # one\n\n# between\nb: 3 # two\n# foot\n---\ntext\n", ""},
		{"a CRLF note gets LF fences", "update_frontmatter", set("b", 2), "---\r\na: 1\r\n---\r\ntext\r\n", "---\r\na: 1\r\nb: 2\r\n---\r\ntext\r\n", ""},
		{"a CRLF note gets an LF block", "update_frontmatter", set("b", 2), "text\r\n", "---\r\nb: 2\r\n---\r\ntext\r\n", ""},
		{"a byte order mark hides the block", "update_frontmatter", set("b", 2), "\ufeff---\na: 1\n---\ntext\n", "\ufeff---\na: 1\nb: 2\n---\ntext\n", ""},
		{"an empty block is not seen", "update_frontmatter", set("b", 2), "---\n---\ntext\n", "---\nb: 2\n---\ntext\n", ""},
		{"other values are typed anew", "update_frontmatter", set("x", "y"),
			"---\nzip: 01234\nisbn: 978-3-16\nver: 1.10\non: yes\n---\n", "---\nzip: 01234\nisbn: 978-3-16\nver: 1.10\non: yes\nx: y\n---\n", ""},
		{"the own value is typed anew", "update_frontmatter", set("zip", "01234"), "---\nzip: 1\n---\n", "---\nzip: \"01234\"\n---\n", ""},
		{"a number loses its literal", "update_frontmatter", set("v", json.Number("1.10")), "---\nv: 1\n---\n", "---\nv: 1.10\n---\n", ""},
		{"a whole number becomes a float", "update_frontmatter", set("v", []any{json.Number("3"), json.Number("2.0"), "3"}), "---\nv:\n---\n", "---\nv:\n  - 3\n  - 2.0\n  - \"3\"\n---\n", ""},
		{"a value that is left out is stored as null", "update_frontmatter", args{"operation": "set", "key": "a"}, "---\na: 1\n---\n", "", fault.InvalidInput},
		{"a null that is given is not stored", "update_frontmatter", set("a", nil), "---\na: 1\n---\n", "---\na:\n---\n", ""},
		{"a list in the block is erased", "update_frontmatter", set("a", 1), "---\n- x\n- y\n---\ntext\n", "", fault.InvalidInput},
		{"a block of comments is erased", "update_frontmatter", args{"operation": "remove", "key": "a"}, "---\n# only a comment\n---\ntext\n", "---\n# only a comment\n---\ntext\n", ""},
		{"a broken block is written over", "update_frontmatter", set("a", 1), "---\nfoo: [1, 2\n---\ntext\n", "", fault.InvalidInput},
		{"another spelling makes a second key", "update_frontmatter", set("STATUS", "new"), "---\nStatus: old\n---\n", "---\nStatus: new\n---\n", ""},
		{"a nested key is written flat", "update_frontmatter", args{"operation": "set", "key": "a.b", "value": 2, "nested": true}, "---\na:\n  b: 1 # one\n  c: 3\n---\n", "---\na:\n  b: 2 # one\n  c: 3\n---\n", ""},
		{"a merge drops the others", "update_frontmatter", args{"operation": "merge", "properties": args{"b": 3, "c": true}}, "---\na: 1\nb: 2\n---\n", "---\na: 1\nb: 3\nc: true\n---\n", ""},
		{"a replacement needs nobody", "update_frontmatter", args{"operation": "replace", "properties": args{"c": 1}}, "---\na: 1\n---\n", "", fault.ElicitRequired},
		{"a merge of nothing that is named", "update_frontmatter", args{"operation": "merge", "key": "a", "value": 1}, "x\n", "", fault.InvalidInput},
		{"properties are changed by a patch of the body", "patch_note", args{"operation": "append", "part": "document", "content": "more"},
			"---\n# c\nzip: 01234\nlist: [a,  b]\n---\ntext\n", "---\n# c\nzip: 01234\nlist: [a,  b]\n---\ntext\nmore\n", ""},
		{"a block of comments is erased by a patch of the body", "patch_note", args{"operation": "append", "part": "document", "content": "more"},
			"---\n# only a comment\n---\ntext\n", "---\n# only a comment\n---\ntext\nmore\n", ""},
		{"a list in the block is erased by text that is added", "append_note", args{"content": "more\n"}, "---\n- x\n- y\n---\ntext\n", "---\n- x\n- y\n---\ntext\nmore\n", ""},
		{"a tag makes a second block behind a byte order mark", "add_tag", args{"tag": "t"}, "\ufeff---\na: 1\n---\nx\n", "\ufeff---\na: 1\ntags:\n  - t\n---\nx\n", ""},
		{"LF text is added to a CRLF note", "append_note", args{"content": "a\nb"}, "x\r\n", "x\r\na\r\nb\r\n", ""},
	}.run(t)
}

func TestTagEditsHarmNothing(t *testing.T) {
	edits{
		{"a number in tags is dropped", "add_tag", args{"tag": "b"}, "---\ntags: [2024, a]\n---\n", "---\ntags: [2024, a, b]\n---\n", ""},
		{"a tag is there twice, in two cases", "add_tag", args{"tag": "#Z"}, "---\ntags: [z]\n---\n", "---\ntags: [z]\n---\n", ""},
		{"an inline tag is there twice", "add_tag", args{"tag": "Z", "location": "inline"}, "a #z b\n", "a #z b\n", ""},
		{"a tag ends in code", "add_tag", args{"tag": "x", "location": "inline"}, "```\ncode\n", "", fault.InvalidInput},
		{"what is no tag becomes one", "add_tag", args{"tag": "two words"}, "x\n", "", fault.InvalidInput},
		{"a number becomes a tag", "add_tag", args{"tag": "2024"}, "x\n", "", fault.InvalidInput},
		{"a tag in other letters is cut", "add_tag", args{"tag": "日本語/café"}, "x\n", "---\ntags:\n  - 日本語/café\n---\nx\n", ""},
		{"code is changed", "remove_tag", args{"tag": "b", "location": "all"}, "---\ntags: [a, b]\n---\nx #b y `#b`\n\n```sh\n#b\n```\n", "---\ntags: [a]\n---\nx y `#b`\n\n```sh\n#b\n```\n", ""},
		{"text is changed that nobody named", "remove_tag", args{"tag": "b"}, "---\ntags: [a, b]\n---\nx #b y\n", "---\ntags: [a]\n---\nx #b y\n", ""},
		{"the property tag is not seen", "remove_tag", args{"tag": "b"}, "---\ntag: b\nx: 1\n---\n", "---\ntag: []\nx: 1\n---\n", ""},
		{"a nested tag goes too", "remove_tag", args{"tag": "b", "location": "all"}, "---\ntags: [b/c, b]\n---\n#b/c #b\n", "---\ntags: [b/c]\n---\n#b/c\n", ""},
		{"a longer tag is cut", "remove_tag", args{"tag": "b", "location": "inline"}, "#bc #b\n", "#bc\n", ""},
		{"a note with broken properties is half changed", "remove_tag", args{"tag": "b", "location": "all"}, "---\nx: [\n---\n#b\n", "", fault.InvalidInput},
	}.run(t)
}

func TestTaskEditsHarmNothing(t *testing.T) {
	line := func(more args) args {
		in := args{"line": 1}
		maps.Copy(in, more)
		return in
	}
	edits{
		{"a tag is cut out of a longer one", "update_task", line(args{"remove_tags": []string{"project"}}), "- [ ] do #projects #project\n", "- [ ] do #projects\n", ""},
		{"a block id moves", "update_task", line(args{"due": "2031-02-03"}), "- [ ] do it ⏫ ^blk\n", "- [ ] do it ⏫ 📅 2031-02-03 ^blk\n", ""},
		{"blanks are collapsed", "update_task", line(args{"status": "done"}), "* [ ] a  b   `x  y` 📅 2031-02-03\n", "* [x] a  b   `x  y` 📅 2031-02-03\n", ""},
		{"fields change their order", "update_task", line(args{"due": "2031-02-04"}), "- [ ] a 📅 2031-02-03 🔁 every day 🛫 2031-01-01\n", "- [ ] a 📅 2031-02-04 🔁 every day 🛫 2031-01-01\n", ""},
		{"a field cannot be taken away", "update_task", line(args{"due": "", "priority": "none"}), "- [ ] a ⏫ 📅 2031-02-03\n", "- [ ] a\n", ""},
		{"any text becomes a date", "update_task", line(args{"due": "2031-02-30"}), "- [ ] a\n", "", fault.ValidationError},
		{"a line that is no task changes", "update_task", args{"line": 2, "toggle": true}, "- [ ] a\n- b\n", "", fault.InvalidInput},
		{"a task in code changes", "update_task", args{"line": 2, "toggle": true}, "```\n- [ ] a\n```\n", "", fault.InvalidInput},
		{"another task changes", "update_task", line(args{"toggle": true, "text": "a"}), "- [ ] b\n- [ ] a\n", "", fault.ConcurrentModification},
		{"an id finds nothing", "update_task", args{"id": "^BLK", "toggle": true}, "- [ ] a\n- [!] b ^blk\n", "- [ ] a\n- [ ] b ^blk\n", ""},
		{"two tasks with one id", "update_task", args{"id": "q", "toggle": true}, "- [ ] a 🆔 q\n- [ ] b 🆔 q\n", "", fault.InvalidInput},
		{"a new text brings fields along", "update_task", line(args{"description": "b 📅 2031-02-03"}), "- [ ] a\n", "", fault.InvalidInput},
		{"a CRLF note is mixed", "update_task", args{"line": 2, "toggle": true}, "x\r\n- [ ] a\r\ny\n", "x\r\n- [x] a\r\ny\n", ""},
		{"history is opened again", "update_task", line(args{"toggle": true}), "- [x] a ✅ 2021-02-03\n", "", fault.ElicitRequired},
		{"history is cancelled", "update_task", line(args{"status": "cancelled", "done": ""}), "- [X] a ✅ 2021-02-03\n", "", fault.ElicitRequired},
		{"what is done tomorrow is history", "update_task", line(args{"toggle": true}), "- [x] a ✅ 2931-02-03\n", "- [ ] a ✅ 2931-02-03\n", ""},
	}.run(t)
}

// No other tool opens history again either, and neither do several steps.
func TestHistoryIsNotReopenedInSteps(t *testing.T) {
	old := "# T\n- [x] a ✅ 2021-02-03\n"
	type step struct {
		tool string
		in   args
	}
	reopen := step{"update_task", args{"line": 2, "toggle": true}}
	for what, steps := range map[string][]step{
		"a section is replaced":    {{"patch_note", args{"operation": "replace", "target_heading": "T", "content": "- [ ] a"}}},
		"the date goes first":      {{"update_task", args{"line": 2, "done": ""}}, reopen},
		"the date is changed":      {{"update_task", args{"line": 2, "done": "2031-01-01"}}, {"update_task", args{"line": 2, "done": time.Now().Format(time.DateOnly)}}, reopen},
		"the note is renamed then": {{"update_task", args{"line": 2, "done": ""}}, {"move_note", args{"from": "n.md", "to": "m.md"}}, {"update_task", args{"path": "m.md", "line": 2, "toggle": true}}},
	} {
		a, _ := writable(t, map[string]string{"n.md": old}, false)
		for i, s := range steps {
			if s.tool != "move_note" && s.in["path"] == nil {
				s.in["path"] = "n.md"
			}
			var out json.RawMessage
			err := call(t, a, s.tool, s.in, &out)
			if last := i == len(steps)-1; last != (code(err) == fault.ElicitRequired) || !last && err != nil || last && !strings.Contains(err.Error(), "reopens") {
				t.Errorf("%s, step %d: %v", what, i+1, err)
			}
		}
	}
}

func TestTableEditsHarmNothing(t *testing.T) {
	edits{
		{"the bar of an alias becomes the end of a cell", "format_table", args{}, "|a|b|\n|-|-|\n| [[N\\|al]] | 1 |\n", "| a         | b   |\n| --------- | --- |\n| [[N\\|al]] | 1   |\n", ""},
		{"code is cut at its bar", "format_table", args{}, "|a|b|\n|-|-|\n| `x\\|y` | 1 |\n", "| a      | b   |\n| ------ | --- |\n| `x\\|y` | 1   |\n", ""},
		{"code is cut at a bar without a backslash", "format_table", args{}, "|a|b|\n|-|-|\n| `x|y` | 1 |\n", "| a      | b   |\n| ------ | --- |\n| `x\\|y` | 1   |\n", ""},
		{"a new row changes the bars of others", "insert_table_row", args{"values": []string{"[[M|al]]", "`p|q`"}}, "| a | b |\n| - | - |\n| [[N\\|al]] | `x\\|y` |\n",
			"| a | b |\n| - | - |\n| [[N\\|al]] | `x\\|y` |\n| [[M\\|al]] | `p\\|q` |\n", ""},
		{"a sort changes the bars of others", "sort_table_by_column", args{"column": "b"}, "| a | b |\n| - | - |\n| [[N\\|al]] | 2 |\n| `x\\|y` | 1 |\n",
			"| a | b |\n| - | - |\n| `x\\|y` | 1 |\n| [[N\\|al]] | 2 |\n", ""},
		{"a new column changes the bars of others", "insert_table_column", args{"header": "c", "values": []string{"1"}}, "|a|\n|-|\n| [[N\\|al]] |\n",
			"| a | c |\n| --- | --- |\n| [[N\\|al]] | 1 |\n", ""},
		{"a value breaks the table", "insert_table_row", args{"values": []string{"p|q\nr", "2"}}, "| a | b |\n| - | - |\n| 1 | 2 |\n\nx\n", "| a | b |\n| - | - |\n| 1 | 2 |\n| p\\|q<br>r | 2 |\n\nx\n", ""},
		{"a row goes above the first", "insert_table_row", args{"values": []string{"0"}, "at": 0}, "| a |\n| - |\n| 1 |\n", "| a |\n| - |\n| 0 |\n| 1 |\n", ""},
		{"values are dropped", "insert_table_row", args{"values": []string{"1", "2"}}, "| a |\n| - |\n", "", fault.InvalidInput},
		{"a column loses its cells", "insert_table_column", args{"header": "c", "values": []string{"x|y"}, "at": 0, "align": "right"}, "| a |\n| - |\n| 1 |\n", "|    c | a   |\n| ---: | --- |\n| x\\|y | 1   |\n", ""},
		{"what is no number stops the sort", "sort_table_by_column", args{"column": "A", "numeric": true}, "| a |\n| - |\n| 10 |\n| n/a |\n| 9 |\n", "| a |\n| - |\n| 9 |\n| 10 |\n| n/a |\n", ""},
		{"a column that is not there sorts nothing", "sort_table_by_column", args{"column": 9}, "| a |\n| - |\n| 2 |\n| 1 |\n", "", fault.NotFound},
		{"a table in code is counted", "format_table", args{"table_index": 1}, "```\n|a|\n|-|\n```\n\n|b|\n|-|\n", "", fault.NotFound},
		{"a table is found by its line", "sort_table_by_column", args{"column": 0, "line": 5, "order": "desc"}, "|a|\n|-|\n\n|b|\n|-|\n|1|\n|2|\n", "|a|\n|-|\n\n|b|\n|-|\n|2|\n|1|\n", ""},
	}.run(t)
}

// A note whose properties cannot be read is refused by its path, with the line
// and the reason.
func TestBrokenPropertiesAreNamed(t *testing.T) {
	a, _ := writable(t, map[string]string{"n.md": "---\na: 1\nfoo: [1, 2\n---\n#b\n"}, true)
	for tool, in := range map[string]args{
		"update_frontmatter": {"operation": "remove", "key": "a"}, "add_tag": {"tag": "c"}, "remove_tag": {"tag": "b"},
	} {
		in["path"] = "n"
		err := call(t, a, tool, in, &written{})
		d := fault.Of(err).Details
		line, _ := d["line"].(int)
		if code(err) != fault.InvalidInput || d["path"] != "n.md" || line < 3 || strings.Count(err.Error(), "no valid YAML") != 1 || d["reason"] == "" {
			t.Errorf("%s: %v %v", tool, err, d)
		}
	}
}

// What is no note has no properties, tasks or tags: they would be damage.
func TestOtherFilesAreNoNotes(t *testing.T) {
	files := map[string]string{"a.canvas": `{"nodes":[]}`, "b.base": "views: []\n", "c.txt": "x\n"}
	a, dir := writable(t, files, true)
	for path, old := range files {
		for tool, in := range map[string]args{
			"update_frontmatter": {"operation": "set", "key": "k", "value": 1}, "add_tag": {"tag": "t", "location": "inline"},
			"update_task": {"line": 1, "toggle": true}, "format_table": {},
		} {
			in["path"] = path
			var out written
			if err := call(t, a, tool, in, &out); code(err) != fault.InvalidInput || content(t, dir, path) != old {
				t.Errorf("%s %s: %v, %q", tool, path, err, content(t, dir, path))
			}
		}
	}
}

// editing is what the tools for parts of notes answer beside written.
type editing struct {
	written
	Frontmatter    map[string]any
	Added          bool
	Removed, Left  int
	Notes, Renamed int
	Index          int `json:"table_index"`
	Rows, Columns  int
	Line           int
	Warnings       []string
	Prev           task `json:"prev_state"`
	New            task `json:"new_state"`
	Succeeded      int
	Failed         int
	Results        []bulkRow
	PrevHash       *string `json:"prev_hash"`
}

type task struct {
	Status, Description, Due string
	Tags                     []string
}

type bulkRow struct {
	Path  string
	OK    bool
	Prev  any `json:"prev_value"`
	Error *struct{ Code, Message string }
}

func TestAnEditTellsWhatItDid(t *testing.T) {
	old := "---\ntags: [a]\n---\n- [ ] do #x\n\n|h|\n|-|\n|1|\n"
	a, dir := writable(t, map[string]string{"n.md": old}, false)
	do := func(tool string, in args) editing {
		t.Helper()
		var out editing
		in["path"] = "N"
		if err := call(t, a, tool, in, &out); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		return out
	}
	if out := do("update_frontmatter", args{"operation": "set", "key": "k", "value": args{"z": 1, "a": 2}, "dry_run": true}); out.Path != "n.md" || !out.DryRun ||
		!strings.Contains(out.Diff, "+k:") || out.Frontmatter["k"] == nil || content(t, dir, "n.md") != old {
		t.Errorf("%+v", out)
	}
	if out := do("remove_tag", args{"tag": "X"}); out.Removed != 0 || out.Left != 1 || out.ChangeID != "" || out.Summary != "Nothing to change." {
		t.Errorf("%+v", out)
	}
	if out := do("add_tag", args{"tag": "#b"}); !out.Added || out.ChangeID == "" || out.Hash == *out.PrevHash {
		t.Errorf("%+v", out)
	}
	if out := do("update_task", args{"line": 4, "status": "done", "due": "2031-02-03", "add_tags": []string{"y"}}); out.Prev.Status != "todo" || out.New.Status != "done" ||
		out.New.Due != "2031-02-03" || len(out.Prev.Tags) != 1 || len(out.New.Tags) != 2 {
		t.Errorf("%+v", out)
	}
	if out := do("insert_table_row", args{"values": []string{"2"}, "line": 8}); out.Index != 0 || out.Line != 6 || out.Rows != 2 || out.Columns != 1 {
		t.Errorf("%+v", out)
	}
	var out editing
	if err := call(t, a, "update_frontmatter", args{"path": "New/m", "operation": "merge", "properties": args{"a": 1}}, &out); code(err) != fault.NoteNotFound {
		t.Error(err)
	}
	if err := call(t, a, "update_frontmatter", args{"path": "New/m", "operation": "merge", "properties": args{"a": 1}, "create_if_missing": true}, &out); err != nil || content(t, dir, "New/m.md") != "---\na: 1\n---\n" {
		t.Error(err)
	}
	if err := call(t, a, "add_tag", args{"path": "n", "tag": "c", "prev_hash": strings.Repeat("0", 64)}, &out); code(err) != fault.ConcurrentModification {
		t.Error(err)
	}
}

// A repeated key has no second effect, although each of these would have one.
func TestARepeatedEditIsNotMadeTwice(t *testing.T) {
	a, dir := writable(t, map[string]string{"n.md": "- [ ] a\n\n| h |\n| - |\n"}, false)
	for tool, in := range map[string]args{"update_task": {"line": 1, "toggle": true}, "insert_table_row": {"values": []string{"1"}}} {
		in["path"], in["idempotency_key"] = "n.md", tool
		var first, second editing
		for _, out := range []*editing{&first, &second} {
			if err := call(t, a, tool, in, out); err != nil {
				t.Fatal(err)
			}
		}
		if first.ChangeID == "" || first.ChangeID != second.ChangeID {
			t.Errorf("%s: %q %q", tool, first.ChangeID, second.ChangeID)
		}
	}
	if got := content(t, dir, "n.md"); got != "- [x] a\n\n| h |\n| - |\n| 1 |\n" {
		t.Errorf("%q", got)
	}
}

// Who may write in a folder but not read there learns nothing by an edit.
func TestAnEditShowsNothingThatMayNotBeRead(t *testing.T) {
	old := "---\nk: onlysecret\n---\n- [ ] onlysecret\n\n|onlysecret|\n|-|\n"
	for _, verb := range []string{"deny", "hide"} {
		a, dir := writable(t, map[string]string{"Locked/n.md": old}, true, `, rules: [{glob: "Locked/**", verbs: {read: `+verb+`, write: allow}}]`)
		for tool, in := range map[string]args{
			"update_frontmatter": {"operation": "set", "key": "x", "value": 1, "dry_run": true}, "update_task": {"line": 1, "toggle": true},
			"format_table": {"table_index": 5}, "remove_tag": {"tag": "x"}, "bulk_set_property": {"paths": []string{"Locked/n.md"}, "key": "k", "value": 1, "partial": true},
		} {
			if tool != "bulk_set_property" {
				in["path"] = "Locked/n"
			}
			raw, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := answer(t.Context(), a, tool, string(raw))
			if strings.Contains(text, "onlysecret") || !strings.Contains(text, string(fault.ACLDenied)) {
				t.Errorf("%s %s: %s", verb, tool, text)
			}
		}
		if got := content(t, dir, "Locked/n.md"); got != old {
			t.Errorf("%q", got)
		}
	}
}
