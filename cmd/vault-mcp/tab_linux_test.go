package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// chromium is where Debian installs it.
const chromium = "/usr/bin/chromium"

// onPage starts the page of a desk, and is its first address, which lets a browser in.
func (d *desk) onPage() (address string) {
	d.t.Helper()
	page := exec.Command(os.Args[0], "elicit", "page", "--no-open")
	page.Env = append([]string{"VAULT_MCP_TEST_CHILD=1"}, d.person()...)
	page.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	page.Stderr = d.t.Output()
	out, err := page.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := page.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = page.Process.Signal(syscall.SIGTERM)
		if err := page.Wait(); err != nil {
			d.t.Errorf("the page ended with %v", err)
		}
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// again is a further address of the page that runs.
func (d *desk) again() string {
	d.t.Helper()
	got := d.without("elicit", "page", "--no-open")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "http://127.0.0.1:") {
		d.t.Fatalf("%+v", got)
	}
	return strings.TrimSpace(got.stdout)
}

// fetch is the page to which an address leads, without a browser.
func (d *desk) fetch(address string) string {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	res, err := (&http.Client{Jar: jar}).Get(address)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// tab is a tab of a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// browse starts a browser.
func browse(t *testing.T) *tab {
	t.Helper()
	if _, err := os.Stat(chromium); err != nil {
		t.Skip("needs Chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	w := &tab{t, ctx}
	w.do(chromedp.EmulateViewport(1000, 800))
	return w
}

// tab is a further tab of the same browser.
func (w *tab) tab() *tab {
	w.t.Helper()
	ctx, stop := chromedp.NewContext(w.ctx)
	w.t.Cleanup(stop)
	other := &tab{w.t, ctx}
	other.do(chromedp.EmulateViewport(1000, 800))
	return other
}

func (w *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	for i, s := range steps {
		// The first use of a context starts the browser, which lives as long.
		if err := chromedp.Do(w.ctx, s); err != nil {
			w.t.Fatalf("step %d: %v; the page: %s", i, err, w.text())
		}
	}
}

// text is what a person reads on the page.
func (w *tab) text() string {
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
	if err != nil {
		return err.Error()
	}
	return text
}

func (w *tab) is(expression string) bool {
	w.t.Helper()
	ok, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return ok
}

// until waits for a text on the page, which may load anew meanwhile.
func (w *tab) until(want string) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(w.text(), want); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("no %q on the page:\n%s", want, w.text())
		}
	}
}

// shown waits until what a selector finds can be seen: buttons cannot at first.
func (w *tab) shown(selector string) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); !w.is(fmt.Sprintf("(e => e && getComputedStyle(e).visibility === 'visible')(document.querySelector(%q))", selector)); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("no %s is to be seen:\n%s", selector, w.text())
		}
	}
}

// press clicks on what a selector finds, once it can be seen.
func (w *tab) press(selector string) {
	w.t.Helper()
	w.shown(selector)
	w.do(chromedp.Click(chromedp.CSS(selector)))
}

// picture takes a picture of the whole page into the folder VAULT_MCP_PICTURES, if
// that is set, and looks that nothing lies beside it.
func (w *tab) picture(name, scheme string, width int64) {
	w.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		w.t.Fatal(err)
	}
	w.do(chromedp.EmulateViewport(width, 800))
	if !w.is("document.documentElement.scrollWidth <= innerWidth") {
		w.t.Errorf("%s, %s, %d: the page is wider than the window", name, scheme, width)
	}
	if dir := os.Getenv("VAULT_MCP_PICTURES"); dir != "" {
		png, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)), png, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// pictures takes them in light and dark, wide and narrow.
func (w *tab) pictures(name string) {
	w.t.Helper()
	if w.is("document.querySelector('.acts button')") {
		w.shown(".acts button")
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1000, 360} {
			w.picture(name, scheme, width)
		}
	}
	w.do(chromedp.EmulateViewport(1000, 800))
}

func (w *tab) url() string {
	url, err := chromedp.Run(w.ctx, chromedp.Location())
	if err != nil {
		w.t.Fatal(err)
	}
	return url
}

// blocked makes calls that wait for a person, without waiting for them.
func (d *desk) blocked(notes ...string) {
	d.t.Helper()
	for _, n := range notes {
		if a := d.call("delete_note", fmt.Sprintf(`{"path":%q}`, n)); a.reason != "approval_required" {
			d.t.Fatalf("%s: %+v", n, a)
		}
	}
}
