package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/app"
	"vault-mcp/internal/mcpserver/stdio"
	"vault-mcp/internal/updates"
)

// patience is how long these tests wait for what has to come.
const patience = 20 * time.Second

// follower is a client that is told of changes, of one era or the other.
type follower struct {
	t       *testing.T
	modern  bool
	in      io.Writer
	told    chan string // URIs, as they come
	answers chan reply
	id      int
	listens map[string]int // of the modern era: the request that follows a URI
}

type reply struct {
	ID     int
	Method string
	Params struct {
		URI           string
		Notifications *struct{ ResourceSubscriptions []string }
	}
	Result json.RawMessage
	Error  *stdio.RPCError
}

func follow(t *testing.T, a *app.App, modern bool) *follower {
	t.Helper()
	in, w := io.Pipe()
	out, to := io.Pipe()
	f := &follower{t: t, modern: modern, in: w, told: make(chan string, 1000), answers: make(chan reply, 1000), listens: map[string]int{}}
	served := make(chan error, 1)
	go func() {
		served <- a.Serve(context.WithoutCancel(t.Context()), in, to)
		to.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var r reply
			if err := json.Unmarshal(line, &r); err != nil {
				t.Errorf("no message: %s", line)
			}
			switch {
			case r.Method == "notifications/resources/updated":
				if strings.Contains(string(line), "subscriptionId") != modern {
					t.Errorf("the wrong era: %s", line)
				}
				f.told <- r.Params.URI
			default:
				f.answers <- r
			}
		}
	}()
	t.Cleanup(func() {
		w.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		<-read
	})
	if !modern {
		f.ask("initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}`)
	}
	return f
}

func (f *follower) send(line string) {
	f.t.Helper()
	if _, err := io.WriteString(f.in, line+"\n"); err != nil {
		f.t.Fatal(err)
	}
}

// ask sends a request and returns the first that comes back for it.
func (f *follower) ask(method, params string) reply {
	f.t.Helper()
	f.id++
	if f.modern {
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, f.id, method, params))
	select {
	case r := <-f.answers:
		return r
	case <-time.After(patience):
		f.t.Fatalf("no answer to %s %s", method, params)
		return reply{}
	}
}

// follow begins to follow URIs, and returns those that are followed.
func (f *follower) follow(uris ...string) (followed []string) {
	f.t.Helper()
	if f.modern {
		list, _ := json.Marshal(uris)
		r := f.ask("subscriptions/listen", `"notifications":{"resourceSubscriptions":`+string(list)+`}`)
		if r.Params.Notifications == nil {
			f.t.Fatalf("no acknowledgement: %+v", r)
		}
		followed = r.Params.Notifications.ResourceSubscriptions
		if len(followed) == 0 { // it has ended already
			<-f.answers
		}
		for _, uri := range followed {
			f.listens[uri] = f.id
		}
		return followed
	}
	for _, uri := range uris {
		r := f.ask("resources/subscribe", fmt.Sprintf(`"uri":%q`, uri))
		if r.Error == nil {
			followed = append(followed, uri)
		} else if r.Error.Code != -32002 && r.Error.Code != -32602 {
			f.t.Errorf("%s: %v", uri, r.Error)
		}
	}
	return followed
}

// unfollow ends that a URI is followed. In the new era all that was asked for with it
// ends too.
func (f *follower) unfollow(uri string) {
	f.t.Helper()
	if !f.modern {
		if r := f.ask("resources/unsubscribe", fmt.Sprintf(`"uri":%q`, uri)); r.Error != nil {
			f.t.Error(r.Error)
		}
		return
	}
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, f.listens[uri]))
	f.ask("server/discover", "") // which is answered after the cancel was read
}

// until takes what is told up to a URI, which has to come.
func (f *follower) until(uri string) (told []string) {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-f.told:
			if told = append(told, got); got == uri {
				return told
			}
		case <-late:
			f.t.Fatalf("nothing is told of %s; told: %v", uri, told)
		}
	}
}

// only checks that nothing but URIs is told until the last of them is.
func (f *follower) only(uris ...string) {
	f.t.Helper()
	if got := f.until(uris[len(uris)-1]); !slices.Equal(got, uris) {
		f.t.Errorf("told %v, want %v", got, uris)
	}
}

func inBothEras(t *testing.T, test func(t *testing.T, modern bool)) {
	for _, modern := range []bool{false, true} {
		t.Run(map[bool]string{false: "handshake", true: "2026-07-28"}[modern], func(t *testing.T) {
			t.Parallel()
			test(t, modern)
		})
	}
}

// write replaces a file at once, as editors do.
func write(t *testing.T, dir, path, text string) {
	t.Helper()
	full, next := filepath.Join(dir, filepath.FromSlash(path)), filepath.Join(dir, ".next")
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, full); err != nil {
		t.Fatal(err)
	}
}

// What is followed is told once for a burst of changes, by the name that the
// client uses for it, and when it vanishes and comes back too. What is followed
// no longer is not, and neither is what nobody follows.
func TestAFollowedNoteTellsThatItHasChanged(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		dir := t.TempDir()
		plant(t, dir, map[string]string{"a b.md": "one", "b.md": "one", "c.md": "one", "d.md": "one", "plan.canvas": "{}", "p.png": "\x89PNG"})
		f := follow(t, start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir)), modern)
		const odd, end, last = "OBSIDIAN-TC://main/A%20b.MD", "vault://main/d.md", "vault://main/b.md"
		others := []string{last, "vault://main/p.png", "vault://main/plan.canvas"}
		if got := f.follow(odd, end); !slices.Equal(got, []string{odd, end}) {
			t.Fatalf("followed are %v", got)
		}
		if got := f.follow(others...); !slices.Equal(got, others) {
			t.Fatalf("followed are %v", got)
		}
		write(t, dir, "c.md", "two")
		for i := range 40 {
			write(t, dir, "a b.md", fmt.Sprint("burst ", i))
		}
		write(t, dir, "d.md", "two")
		told := f.until(end)
		if n := len(told) - 1; n < 1 || n > 5 || slices.ContainsFunc(told[:n], func(uri string) bool { return uri != odd }) {
			t.Errorf("40 changes in a burst, and one of another note, are told as %v", told)
		}
		for _, path := range []string{"plan.canvas", "p.png"} {
			write(t, dir, path, "{\"nodes\": []}")
			f.only("vault://main/" + path)
		}
		if err := os.Remove(filepath.Join(dir, "a b.md")); err != nil {
			t.Fatal(err)
		}
		f.only(odd)
		write(t, dir, "a b.md", "again")
		f.only(odd)
		f.unfollow(odd)
		for i := range 3 {
			write(t, dir, "a b.md", fmt.Sprint("unheard ", i))
			write(t, dir, "b.md", fmt.Sprint("heard ", i))
			f.only(last)
		}
	})
}

// A change that a tool makes is told like one from outside; a move is one of the
// old place.
func TestAChangeByAToolIsTold(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		dir := t.TempDir()
		plant(t, dir, map[string]string{"a.md": "one", "b.md": "[[a]]"})
		a := start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir))
		f := follow(t, a, modern)
		f.follow("vault://main/a.md", "vault://main/b.md")
		for _, c := range [][3]string{
			{"append_note", `{"path":"a","content":"two"}`, "vault://main/a.md"},
			{"move_note", `{"from":"a","to":"c"}`, "vault://main/a.md vault://main/b.md"},
		} {
			if _, err := do(t.Context(), a, c[0], c[1]); err != nil {
				t.Fatal(err)
			}
			f.only(strings.Fields(c[2])...)
		}
	})
}

// A server that only reads what another indexes tells its client too.
func TestAServerThatIsNotTheIndexerTellsToo(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"a.md": "one"})
	yaml := fmt.Sprintf("vaults: [{path: %q}]\n", dir)
	first := follow(t, start(t, home, yaml), false)
	first.follow("vault://main/a.md")
	a := start(t, home, yaml)
	second := follow(t, a, true)
	second.follow("vault://main/a.md")
	for i := range 3 {
		write(t, dir, "a.md", fmt.Sprint("from outside ", i))
		first.only("vault://main/a.md")
		second.only("vault://main/a.md")
		if _, err := do(t.Context(), a, "append_note", fmt.Sprintf(`{"path":"a","content":"by the second %d"}`, i)); err != nil {
			t.Fatal(err)
		}
		first.only("vault://main/a.md")
		second.only("vault://main/a.md")
	}
}

// What a client may not read it cannot follow, whether it is there or not; and
// what is hidden while it is followed tells nothing from then on: not that it was
// hidden, and no change.
func TestAHiddenNoteTellsNothing(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		dir, home := t.TempDir(), t.TempDir()
		plant(t, dir, map[string]string{"a.md": "one", "b.md": "one", "Hidden/h.md": "x", "Denied/d.md": "x", "Asked/q.md": "x"})
		clock := &clock{now: time.Now()}
		config := func(more string) string {
			return fmt.Sprintf("vaults: [{path: %q, rules: [{glob: 'Hidden/**', verbs: {read: hide}}, {glob: 'Denied/**', verbs: {read: deny}}, {glob: 'Asked/**', verbs: {read: ask}}%s]}]\n", dir, more)
		}
		a := start(t, home, config(""), func(o *app.Options) { o.Clock = clock.Now })
		f := follow(t, a, modern)
		for _, uri := range []string{
			"vault://main/Hidden/h.md", "vault://main/Hidden/none.md", "vault://main/none.md", "vault://main/Hidden", "vault://main/Denied/d.md", "vault://main/Denied/none.md",
			"vault://main/Asked/q.md", "vault://main/Asked/none.md", "vault://other/a.md", "vault://main/../a.md", "vault://main/.obsidian/app.json", "file:///etc/passwd",
			"vault://main/" + strings.Repeat("x", 9000),
		} {
			if got := f.follow(uri); len(got) != 0 {
				t.Errorf("%s is followed", uri)
			}
		}
		if waiting, err := filepath.Glob(filepath.Join(home, "state", "*", "requests", "*")); err != nil || len(waiting) > 0 {
			t.Errorf("somebody is asked: %v, %v", waiting, err)
		}
		const first, last = "vault://main/a.md", "vault://main/b.md"
		f.follow(first, last)
		write(t, dir, "a.md", "two")
		f.only(first)
		configure := func(more string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(home, "vault.yaml"), []byte(config(more)), 0o600); err != nil {
				t.Fatal(err)
			}
			clock.pass(time.Second)
		}
		for _, verb := range []string{"hide", "deny", "ask"} {
			configure(fmt.Sprintf(", {glob: 'a.md', verbs: {read: %s}}", verb))
			write(t, dir, "b.md", "after the rules "+verb)
			f.only(last)
			write(t, dir, "a.md", "behind the rules "+verb)
			write(t, dir, "b.md", "beside the rules "+verb)
			f.only(last)
		}
		configure("")
		write(t, dir, "b.md", "it is open again")
		f.only(last)
		write(t, dir, "a.md", "and told of")
		f.only(first)
	})
}

// A client cannot make a server follow more and more.
func TestHowMuchASessionFollowsIsBounded(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		dir := t.TempDir()
		files, uris := map[string]string{}, []string{}
		for i := range updates.Most + 1 {
			files[fmt.Sprintf("n%03d.md", i)] = "x"
			uris = append(uris, fmt.Sprintf("vault://main/n%03d.md", i))
		}
		plant(t, dir, files)
		f := follow(t, start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\n", dir)), modern)
		if got := f.follow(uris...); !slices.Equal(got, uris[:updates.Most]) {
			t.Fatalf("%d of %d are followed", len(got), len(uris))
		}
		if modern {
			return
		}
		f.unfollow(uris[3])
		f.unfollow("vault://main/never.md")
		if got := f.follow(uris[updates.Most]); len(got) != 1 {
			t.Error("no room after one was left")
		}
		// All of them at once: none is lost.
		for path := range files {
			write(t, dir, path, "other")
		}
		want := slices.Delete(slices.Clone(uris), 3, 4)
		got := map[string]bool{}
		for range want {
			select {
			case uri := <-f.told:
				got[uri] = true
			case <-time.After(patience):
				t.Fatalf("only %d are told of %d", len(got), len(want))
			}
		}
		for _, uri := range want {
			if !got[uri] {
				t.Errorf("%s is not told", uri)
			}
		}
	})
}
