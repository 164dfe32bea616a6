package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault-mcp/internal/app"
	"vault-mcp/internal/fault"
)

type taskOut struct {
	Items    []map[string]any
	Total    int
	Excluded int
	Warnings []warningRow
}

func taskPage(t *testing.T, a *app.App, in args) taskOut {
	t.Helper()
	var out taskOut
	if err := call(t, a, "list_tasks", in, &out); err != nil {
		t.Fatalf("%v: %v", in, err)
	}
	return out
}

func (o taskOut) texts() string {
	var s []string
	for _, it := range o.Items {
		s = append(s, it["description"].(string))
	}
	return strings.Join(s, ", ")
}

func TestFieldCasesOfTasks(t *testing.T) {
	fieldCases(t, "tasks", map[string]func(*testing.T, *app.App, fieldCase){
		"tasks": func(t *testing.T, a *app.App, c fieldCase) {
			in := args{}
			if path, ok := c.Op.Args["path"]; ok {
				in["paths"] = []any{path}
			}
			if filter, ok := c.Op.Args["filter"]; ok {
				in["status"] = filter
			}
			if char, ok := c.Op.Args["status"]; ok {
				in["status_char"] = char
			}
			got := taskPage(t, a, in)
			want := c.Expect["tasks"].([]any)
			if len(got.Items) != len(want) {
				t.Fatalf("%d tasks, want %d: %v", len(got.Items), len(want), got.Items)
			}
			names := map[string]string{"status": "status_char", "text": "description"}
			for i, w := range want {
				for key, value := range w.(map[string]any) {
					if n, ok := names[key]; ok {
						key = n
					}
					if got.Items[i][key] != value {
						t.Errorf("task %d: %s is %v, want %v", i, key, got.Items[i][key], value)
					}
				}
			}
		},
	})
}

// Tasks in code were listed, those in callouts and with marks of their own were
// not.
func TestATaskIsWhatTheAppTakesForOne(t *testing.T) {
	a := over(t, map[string]string{"n.md": strings.Join([]string{
		"> [!todo]", "> - [ ] callout", "", "```", "- [ ] code", "```", "", "- [!] mark", "    - [/] child", "- item", "  - [ ] below", "",
		"%%", "- [ ] comment", "%%", "", "<!--", "- [ ] html", "-->",
	}, "\n")}, "")
	got := taskPage(t, a, args{})
	var rows []string
	for _, it := range got.Items {
		rows = append(rows, fmt.Sprintln(it["line"], it["status"], it["status_char"], it["description"], it["parent_line"]))
	}
	want := []string{"2 todo   callout <nil>\n", "8 other ! mark <nil>\n", "9 in_progress / child 8\n", "11 todo   below 10\n"}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestFieldsOfATask(t *testing.T) {
	a := over(t, map[string]string{"n.md": "- [ ] call Ann #phone about 📅 it #Ask/now ⏫ 🔁 every week on Monday 🛫 2031-02-01 ⏳ 2031-02-02 #late 📅 2031-02-03 " +
		"➕ 2031-01-01 🆔 abc1 ⛔ x1, y2 🏁 delete\n  more #More ^block\n  - [x] sub #sub ✅ 2031-02-04\n- [-] no ❌ 2031-02-05 ⏬\n- [ ] plain\n"}, "")
	want := []map[string]any{
		{
			"path": "n.md", "line": 1., "end_line": 2., "status": "todo", "status_char": " ", "description": "call Ann #phone about 📅 it #Ask/now #late",
			"tags": []any{"phone", "Ask/now", "late", "More"}, "due": "2031-02-03", "scheduled": "2031-02-02", "start": "2031-02-01", "created": "2031-01-01",
			"priority": "high", "recur": "every week on Monday", "id": "abc1", "depends": []any{"x1", "y2"}, "on_completion": "delete", "block_id": "block",
		},
		{"path": "n.md", "line": 3., "status": "done", "status_char": "x", "description": "sub #sub", "tags": []any{"sub"}, "done": "2031-02-04", "parent_line": 1.},
		{"path": "n.md", "line": 4., "status": "cancelled", "status_char": "-", "description": "no", "tags": []any{}, "cancelled": "2031-02-05", "priority": "lowest"},
		{"path": "n.md", "line": 5., "status": "todo", "status_char": " ", "description": "plain", "tags": []any{}},
	}
	if d := cmp.Diff(want, taskPage(t, a, args{}).Items); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTasksAreFiltered(t *testing.T) {
	a := over(t, map[string]string{
		".obsidian/app.json": `{"userIgnoreFilters":["Old/"]}`,
		"a.md":               "- [ ] one 📅 2031-02-01 ⏫\n- [x] two 📅 2031-02-02 ✅ 2031-02-02\n- [?] three #work/home ⏳ 2031-03-01\n",
		"B/b.md":             "- [ ] four #Work #home 🛫 2031-04-01 ➕ 2031-01-05\n- [>] Fünf 📅 2031-02-03 🔽\n",
		"Bb/c.md":            "- [X] six\n",
		"Old/o.md":           "- [ ] old\n",
	}, "")
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{}, "four #Work #home, Fünf, six, one, two, three #work/home"},
		{args{"root": "B"}, "four #Work #home, Fünf"},
		{args{"status": "todo"}, "four #Work #home, one"},
		{args{"status": []string{"done", "other"}}, "six, two, three #work/home"},
		{args{"status_char": "?"}, "three #work/home"},
		{args{"status_char": ">", "status": "done"}, "Fünf, six, two"},
		{args{"due_on": "2031-02-02"}, "two"},
		{args{"due_before": "2031-02-02"}, "one, two"},
		{args{"due_after": "2031-02-02"}, "Fünf, two"},
		{args{"due_after": "2031-02-02", "due_before": "2031-02-02"}, "two"},
		{args{"scheduled_after": "2031-01-01"}, "three #work/home"},
		{args{"start_before": "2031-04-01", "created_after": "2031-01-05"}, "four #Work #home"},
		{args{"done_before": "2031-02-02"}, "two"},
		{args{"priority": []string{"high", "low"}}, "Fünf, one"},
		{args{"priority": "none", "status": "todo"}, "four #Work #home"},
		{args{"tags": "work"}, "four #Work #home, three #work/home"},
		{args{"tags": []string{"#WORK", "home"}}, "four #Work #home"},
		{args{"text": "FÜNF"}, "Fünf"},
		{args{"text": "2031"}, ""},
		{args{"paths": []string{"a", "B/b.md", "a.md"}, "status": "todo"}, "four #Work #home, one"},
		{args{"paths": []string{"a"}, "root": "B"}, ""},
		{args{"paths": []string{"Old/o"}}, "old"},
	} {
		if got := taskPage(t, a, tt.in).texts(); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := taskPage(t, a, args{}); got.Excluded != 1 || got.Total != 6 {
		t.Errorf("excluded %d, total %d", got.Excluded, got.Total)
	}
	out := taskPage(t, a, args{"paths": []string{"a", "absent", "../up"}})
	if len(out.Items) != 3 || len(out.Warnings) != 2 {
		t.Errorf("a note that is not there: %+v", out)
	}
	for arg, value := range map[string]any{"due_on": "2031-02-30", "due_after": "tomorrow", "status": "open", "status_char": "ab", "tags": "#"} {
		if e := fault.Of(call(t, a, "list_tasks", args{arg: value}, &taskOut{})); e == nil || e.Code != fault.ValidationError && e.Code != fault.InvalidInput {
			t.Errorf("%s %v: %v", arg, value, e)
		}
	}
}

func TestEveryPageHasEachTaskOnce(t *testing.T) {
	files := map[string]string{}
	for i, p := range []string{"a.md", "a b.md", "a-b.md", "a/c.md", "Ä.md", "z.md", "B/z.md"} {
		files[p] = strings.Repeat("- [ ] t\n  - [x] u #tag\n\n", i)
	}
	a := over(t, files, "")
	for _, in := range []args{{}, {"tags": "tag"}, {"paths": []string{"z", "a b", "B/z"}}} {
		whole := rowsOf(t, a, "list_tasks", in)
		for limit := 1; limit <= len(whole)+1; limit++ {
			in["limit"] = limit
			if d := cmp.Diff(whole, rowsOf(t, a, "list_tasks", in)); d != "" {
				t.Fatalf("%v (-whole +pages):\n%s", in, d)
			}
		}
		if len(slices.Compact(whole)) != len(whole) {
			t.Errorf("%v: rows come twice", in)
		}
	}
}
