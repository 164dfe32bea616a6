package acl

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	rules := func(rs ...Rule) *Rules {
		c, err := Compile(rs)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	private := Rule{Glob: "Private/**", Read: Hide}
	tests := []struct {
		name  string
		rules *Rules
		op    Op
		path  string
		want  Verb
	}{
		{"no rule allows", rules(), Read, "a.md", Allow},
		{"no rule that matches allows", rules(private), Read, "Public/a.md", Allow},
		{"a hidden folder", rules(private), Read, "Private/a.md", Hide},
		{"the hidden folder itself", rules(private), Read, "Private", Hide},
		{"deep in a hidden folder", rules(private), Read, "Private/a/b/c.md", Hide},
		{"a name that only begins alike", rules(private), Read, "Private2/a.md", Allow},
		{"writing below hidden is denied", rules(private), Write, "Private/a.md", Deny},
		{"also where a rule allows writing", rules(Rule{Glob: "Private/**", Read: Hide, Write: Allow}), Write, "Private/a.md", Deny},
		{"deleting below hidden is denied", rules(private), Delete, "Private/a.md", Deny},
		{"another case does not open what is closed", rules(private), Read, "private/A.md", Hide},
		{"decomposed spelling does not open what is closed", rules(Rule{Glob: "Café/**", Read: Deny}), Read, "Cafe\u0301/a.md", Deny},
		{"full case folding", rules(Rule{Glob: "Straße/**", Read: Deny}), Read, "STRASSE/a.md", Deny},
		{"the last rule wins", rules(Rule{Glob: "**", Read: Deny}, Rule{Glob: "Public/**", Read: Allow}), Read, "Public/a.md", Allow},
		{"a later rule for another operation does not", rules(Rule{Glob: "**", Read: Deny}, Rule{Glob: "Public/**", Write: Allow}), Read, "Public/a.md", Deny},
		{"allowing compares case", rules(Rule{Glob: "**", Read: Deny}, Rule{Glob: "Public/**", Read: Allow}), Read, "public/a.md", Deny},
		{"a glob without wildcards names a folder with all in it", rules(Rule{Glob: "Private", Read: Deny}), Read, "Private/a/b.md", Deny},
		{"also with a slash behind it", rules(Rule{Glob: "Private/", Read: Deny}), Read, "Private/a.md", Deny},
		{"a wildcard that matches a folder closes what is in it", rules(Rule{Glob: "Priv*", Read: Deny}), Read, "Private/a/b.md", Deny},
		{"but opens only what it matches", rules(Rule{Glob: "**", Read: Deny}, Rule{Glob: "Pub*", Read: Allow}), Read, "Public/a.md", Deny},
		{"one level", rules(Rule{Glob: "*.md", Read: Deny}), Read, "sub/a.md", Allow},
		{"ask is kept", rules(Rule{Glob: "Work/**", Read: Ask}), Read, "Work/a.md", Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.rules.Judge(tt.op, tt.path).Verb; got != tt.want {
				t.Errorf("Judge(%s, %q) = %q, want %q", tt.op, tt.path, got, tt.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for want, r := range map[string]Rule{
		"hide is for read only": {Glob: "a/**", Write: Hide},
		"no verb":               {Glob: "a/**", Read: "forbid"},
		"no glob":               {Glob: "[", Read: Deny},
		"from the vault's root": {Glob: "/a/**", Read: Deny},
	} {
		if _, err := Compile([]Rule{r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}
