package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"vault-mcp/internal/racing"
)

// A delete is blocked, approved in the browser while the call waits, and undone with
// the command that the page shows.
func TestADeleteIsBlockedApprovedInTheBrowserAndUndone(t *testing.T) {
	t.Parallel()
	w := browse(t)
	d := newDesk(t, "")
	address := d.onPage()
	w.do(chromedp.Navigate(address))
	w.until("Nothing waits for you")
	w.pictures("empty")
	d.serve()
	waits := d.later("delete_note", deleteA)
	w.until("Move a.md to the trash")
	for _, want := range []string{"delete_note", "stdio", "because", "It can be taken back", "−one"} {
		if !strings.Contains(strings.ReplaceAll(w.text(), "−\n", "−"), want) {
			t.Errorf("no %q on the page:\n%s", want, w.text())
		}
	}
	w.pictures("one")
	w.press("button[name=approve]")
	w.until("Approved.")
	if a := <-waits; a.failed || d.has("a.md") {
		t.Fatalf("the call: %+v", a)
	}
	if url := w.url(); strings.Contains(url, "/in/") {
		t.Errorf("the code is still in the address: %s", url)
	}
	w.press("nav a:nth-of-type(2)")
	w.until("on a page")
	w.pictures("history")
	w.press("ol.rows a")
	w.until("To take it back")
	w.pictures("change")
	command, err := chromedp.Run(w.ctx, chromedp.Text(chromedp.CSS("pre.command")))
	if err != nil {
		t.Fatal(err)
	}
	s := onScreen(t, d.person(), words(t, command)...)
	s.expect("[y/N]")
	s.press("y\n")
	s.end(exitOK)
	if !d.has("a.md") {
		t.Fatalf("%s: %s", command, s.shown())
	}
	w.do(chromedp.Reload())
	w.until("Taken back by change")
}

func TestThePageTakesOtherAnswers(t *testing.T) {
	racing.Skips(t)
	t.Parallel()
	w := browse(t)
	d := newDesk(t, "")
	files := map[string]string{"long.md": strings.Repeat("a line that is long enough to be wider than a small window, and then some more of it\n", 200), "odd.md": "<b>no markup</b> \u202Eback\u202C \x1b[31mred\n"}
	for i := range 6 {
		files[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("note %d\n", i)
	}
	files["x/Plan.md"], files["y/Plan.md"] = "of x\n", "of y\n"
	d.put(files)
	d.serve()
	d.blocked("n0.md", "n1.md", "n2.md", "n3.md", "long.md", "odd.md")
	address := d.onPage()
	w.do(chromedp.Navigate(address))
	w.until("6 calls to answer")
	w.pictures("several")
	stale := w.tab()
	stale.do(chromedp.Navigate(d.again()))
	stale.until("6 calls to answer")

	t.Run("one is declined", func(t *testing.T) {
		w.press("article:nth-of-type(1) button[name=decline]")
		w.until("Declined.")
		if a := d.call("delete_note", `{"path":"n0.md"}`); a.reason != "approval_declined" || !d.has("n0.md") {
			t.Errorf("%+v", a)
		}
	})
	t.Run("several are approved", func(t *testing.T) {
		w.until("5 calls to answer")
		w.press("article:nth-of-type(1) input[name=pick]")
		w.press("article:nth-of-type(2) input[name=pick]")
		w.press("button[name=picked][value=approve]")
		w.until("3 calls to answer")
		if strings.Count(w.text(), "Approved.") != 2 {
			t.Errorf("%s", w.text())
		}
		for _, n := range []string{"n1.md", "n2.md"} {
			if a := d.call("delete_note", fmt.Sprintf(`{"path":%q}`, n)); a.failed || d.has(n) {
				t.Errorf("%s: %+v", n, a)
			}
		}
	})
	t.Run("another tab is stale", func(t *testing.T) {
		stale.until("answered elsewhere or over")
		stale.press("article:nth-of-type(1) button[name=approve]")
		stale.until("It was declined on a page meanwhile. Nothing was done.")
		if a := d.call("delete_note", `{"path":"n0.md"}`); !a.failed || !d.has("n0.md") {
			t.Errorf("%+v", a)
		}
	})
	t.Run("what is new does not push in", func(t *testing.T) {
		w.press("article:nth-of-type(2) input[name=pick]")
		waits := d.later("delete_note", `{"path":"n4.md"}`)
		w.until("1 new: show")
		if !w.is("document.querySelector('article:nth-of-type(2) input[name=pick]').checked") || strings.Contains(w.text(), "n4.md") {
			t.Errorf("the page has changed under the person's hands: %s", w.text())
		}
		w.press("#news a")
		w.until("n4.md")
		w.press("article:last-of-type button[name=approve]")
		w.until("Approved.")
		if a := <-waits; a.failed || d.has("n4.md") {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a press that comes at once answers nothing", func(t *testing.T) {
		w.do(chromedp.Reload())
		if w.is("getComputedStyle(document.querySelector('button[name=approve]')).visibility === 'visible'") {
			t.Error("the buttons are there at once")
		}
		w.shown("button[name=approve]")
	})
	t.Run("a question is answered by choosing", func(t *testing.T) {
		d.question("append_note", `{"title":"Plan","content":"more"}`)
		w.until("1 new: show")
		w.press("#news a")
		w.until("Which note is meant?")
		w.pictures("choice")
		w.press("article:last-of-type button[name=approve]")
		w.until("Say which note is meant")
		w.press("article:last-of-type input[value='2']")
		w.press("article:last-of-type button[name=approve]")
		w.until("Chosen: y/Plan.md")
		if a := d.call("append_note", `{"title":"Plan","content":"more"}`); a.failed {
			t.Errorf("%+v", a)
		}
		if got, _ := os.ReadFile(filepath.Join(d.dir, "y/Plan.md")); !strings.Contains(string(got), "more") {
			t.Errorf("%q", got)
		}
	})
	t.Run("long diffs unfold", func(t *testing.T) {
		w.press("details summary")
		if !w.is("document.querySelector('details[open] pre').innerText.split('\\n').length > 150") {
			t.Error("not all of it is there")
		}
		w.pictures("unfolded")
		w.do(chromedp.EmulateViewport(1000, 800))
	})
}

// All can be done by keys, and Enter in a field answers nothing.
func TestThePageIsUsedByKeysAlone(t *testing.T) {
	t.Parallel()
	w := browse(t)
	d := newDesk(t, "")
	d.serve("VAULT_MCP_TEST_PATIENCE=1s")
	d.blocked("a.md", "b.md")
	address := d.onPage()
	w.do(chromedp.Navigate(address))
	w.until("2 calls to answer")
	w.shown("button[name=approve]")
	focus := func() string {
		name, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](`(e => e.name ? e.name + "=" + (e.name === "picked" ? e.value : "") : e.className || e.textContent.trim())(document.activeElement)`))
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	var order []string
	for range 4 + 2*4 + 2 {
		w.do(chromedp.KeyEvent("\t"))
		order = append(order, focus())
		if !w.is("document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle === 'solid'") {
			t.Errorf("the focus on %s cannot be seen", order[len(order)-1])
		}
		if order[len(order)-1] == "picked=decline" {
			break
		}
	}
	one := "diff pick= approve= decline= "
	if got, want := strings.Join(order, " "), "skip Waiting History "+one+one+"picked=approve picked=decline"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	w.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('article:nth-of-type(2) input[name=pick]').focus()"))
	w.do(chromedp.KeyEvent("\r"))
	w.do(chromedp.Sleep(200 * time.Millisecond))
	if !strings.Contains(w.text(), "2 calls to answer") {
		t.Fatalf("Enter in a field has answered: %s", w.text())
	}
	w.do(chromedp.KeyEvent(" "), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t"))
	if got := focus(); got != "picked=approve" {
		t.Fatalf("the focus is on %s", got)
	}
	w.do(chromedp.KeyEvent("\r"))
	w.until("Approved.")
	if a := d.call("delete_note", `{"path":"b.md"}`); a.failed || d.has("b.md") {
		t.Errorf("%+v", a)
	}
	if a := d.call("delete_note", deleteA); a.reason == "" || !d.has("a.md") {
		t.Errorf("%+v", a)
	}
}

// No decision needs the script.
func TestThePageWorksWithoutItsScript(t *testing.T) {
	t.Parallel()
	w := browse(t)
	d := newDesk(t, "")
	d.serve()
	d.blocked("a.md")
	address := d.onPage()
	if _, err := chromedp.Call(w.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	w.do(chromedp.Navigate(address))
	w.until("1 call to answer")
	w.press("button[name=approve]")
	w.until("Approved.")
	if a := d.call("delete_note", deleteA); a.failed || d.has("a.md") {
		t.Errorf("%+v", a)
	}
}

// A link on another page leads in as well, though the cookie is not sent with what
// another page leads to.
func TestALinkOfAnotherPageLeadsIn(t *testing.T) {
	t.Parallel()
	w := browse(t)
	d := newDesk(t, "")
	address := d.onPage()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<a href="%s">approve</a>`, address)
	})}
	go other.Serve(l)
	t.Cleanup(func() { other.Close() })
	w.do(chromedp.Navigate(fmt.Sprintf("http://localhost:%d/", l.Addr().(*net.TCPAddr).Port)))
	w.press("a")
	w.until("Nothing waits for you")
	// Another program on loopback is not sent what lets somebody in.
	var cookies string
	other2 := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { cookies = fmt.Sprint(r.Header["Cookie"]) })
	l2, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: other2}
	go s.Serve(l2)
	t.Cleanup(func() { s.Close() })
	w.do(chromedp.Navigate("http://" + l2.Addr().String() + "/"))
	if cookies != "[]" {
		t.Errorf("another port is sent %s", cookies)
	}
}

// A second start opens the page that runs, and a client's own shell gets nothing of
// it, before its server has made a call as little as after.
func TestOnePageRunsForAnAccount(t *testing.T) {
	d := newDesk(t, "")
	first := d.onPage()
	second := d.again()
	origin := func(address string) string { return strings.SplitAfter(address, "/in/")[0] }
	if origin(first) != origin(second) || first == second {
		t.Errorf("%s and %s", first, second)
	}
	if got := d.without("elicit", "page"); got.code != exitRefused || strings.Contains(got.stdout+got.stderr, "127.0.0.1") || !strings.Contains(got.stderr, "--no-open") {
		t.Errorf("without a browser and a terminal: %+v", got) // no xdg-open works here
	}
	for _, listen := range []string{"0.0.0.0:0", "localhost:0", "192.0.2.1:1"} {
		if got := d.without("elicit", "page", "--no-open", "--listen", listen); got.code == exitOK || !strings.Contains(got.stderr, "this machine alone") {
			t.Errorf("%s: %+v", listen, got)
		}
	}
}

// A client's own shell gets no address, and one that got it before its server was
// known sees and answers nothing with it.
func TestAnAgentsShellDoesNotGetIn(t *testing.T) {
	d := newDesk(t, "")
	d.serve()
	d.blocked("a.md")
	d.onPage()
	pipe := filepath.Join(d.home, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	line := `exec 3<>"$PIPE"; early=$("$BIN" elicit page --no-open)
		"$BIN" serve "$CONFIG" <"$PIPE" >"$OUT" 2>/dev/null &
		printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + initialize + `}' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_vaults","arguments":{}}}' >&3
		until grep -q '"id":2' "$OUT" 2>/dev/null; do sleep 0.05; done
		"$BIN" elicit page --no-open; echo "early $early"; read -r line; kill $!`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append([]string{"VAULT_MCP_TEST_CHILD=1", "PATH=/usr/bin:/bin", "BIN=" + os.Args[0], "CONFIG=" + d.config, "PIPE=" + pipe, "OUT=" + filepath.Join(d.home, "out")}, d.person()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	early, ok := strings.CutPrefix(strings.TrimSpace(said), "early ")
	if err != nil || !ok || !strings.HasPrefix(early, "http://127.0.0.1:") {
		t.Fatalf("%q, %v, %s", said, err, stderr.String())
	}
	text := d.fetch(early)
	if strings.Contains(text, "a.md") || !strings.Contains(text, "Left out: This command runs below the program that started the server") {
		t.Error(text)
	}
	in.Close()
	_ = cmd.Wait() // the exit code is that of kill
	if !strings.Contains(stderr.String(), "allow_client_shell") {
		t.Errorf("it got an address: %s", stderr.String())
	}
}

// Where the config does not take the page's word, the page says so and shows nothing.
func TestThePageIsNoRouteWhereTheConfigSaysSo(t *testing.T) {
	d := newDesk(t, "routes: [form, console, cli]")
	d.serve()
	d.blocked("a.md")
	address := d.onPage()
	text := d.fetch(address)
	if strings.Contains(text, "a.md") || !strings.Contains(text, "elicit.routes") {
		t.Error(text)
	}
	if a := d.call("delete_note", deleteA); a.reason != "approval_required" {
		t.Errorf("a call waits for a page that may not answer it: %+v", a)
	}
}

// What a server says never has the address of the page in it, nor a way to its code.
func TestNoTextOfAServerHasTheAddressOfThePage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	address := d.onPage()
	d.serve("VAULT_MCP_TEST_PATIENCE=1s")
	host := strings.SplitN(strings.TrimPrefix(address, "http://"), "/", 2)[0]
	var all strings.Builder
	d.agent.out = bufio.NewReader(io.TeeReader(d.agent.out, &all))
	for tool, args := range map[string]string{
		"read_note": deleteA, "delete_note": deleteA, "get_server_config": `{}`, "server_health": `{}`, "get_metrics": `{}`, "inspect_acl": deleteA, "list_vaults": `{}`, "list_changes": `{}`,
	} {
		d.call(tool, args)
	}
	if n := all.Len(); n < 1000 {
		t.Fatalf("only %d bytes were looked at", n)
	}
	d.agent.in.Close()
	_ = d.agent.cmd.Wait() // all that it says on stderr is there
	port := host[strings.LastIndex(host, ":")+1:]
	for _, text := range []string{all.String(), d.agent.stderr.String()} {
		if strings.Contains(text, host) || strings.Contains(text, ":"+port) || strings.Contains(text, "/in/") || strings.Contains(text, "elicit page") {
			t.Errorf("the address is in %s", text)
		}
	}
}
