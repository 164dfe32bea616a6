package main

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser is a person's browser, as far as forms need it.
type browser struct {
	t *testing.T
	http.Client
	at   *url.URL
	page string
}

func newBrowser(t *testing.T) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, Client: http.Client{Jar: jar, Timeout: 20 * time.Second}}
}

// open goes to an address.
func (b *browser) open(address string) (status int) {
	b.t.Helper()
	res, err := b.Get(address)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(res)
}

func (b *browser) read(res *http.Response) int {
	b.t.Helper()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.at, b.page = res.Request.URL, html.UnescapeString(string(text))
	return res.StatusCode
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	yesButton   = regexp.MustCompile(`<button name="approve" value="([0-9a-f]{32})"`)
)

// press sends the form with the first button of a name.
func (b *browser) press(name string) (status int) {
	b.t.Helper()
	fields := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(b.page, -1) {
		fields.Set(m[1], m[2])
	}
	m := yesButton.FindStringSubmatch(b.page)
	if m == nil {
		b.t.Fatalf("no form: %s", b.page)
	}
	fields.Set(name, m[1])
	to := b.at.ResolveReference(&url.URL{Path: "answer"})
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, to.String(), strings.NewReader(fields.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", b.at.Scheme+"://"+b.at.Host)
	res, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(res)
}

// line is one message of the server.
func (c *client) line(t *testing.T) (m map[string]any) {
	t.Helper()
	text, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatalf("%v; stderr: %s", err, c.stderr.String())
	}
	return m
}

func (c *client) send(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		t.Fatal(err)
	}
}

// A client that opens addresses and shows no forms: the person is sent to the page
// of the server itself, sees what would be done, and says yes there. The address lets
// one in, once, and to that request alone.
func TestADeletionIsApprovedOnThePageOfTheServer(t *testing.T) {
	dir := plant(t, map[string]string{"a.md": "A line that goes.\n", ".obsidian/app.json": `{"trashOption":"local"}`})
	c := spawn(t, t.TempDir(), dir)
	defer c.end(t)
	c.ask(t, 1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"t","version":"1"}}`)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete_note","arguments":{"path":"a.md"}}}`)
	asked := c.line(t)
	params, _ := asked["params"].(map[string]any)
	address, _ := params["url"].(string)
	if asked["method"] != "elicitation/create" || params["mode"] != "url" || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("%v", asked)
	}
	if strings.Contains(fmt.Sprint(params["message"]), "a.md") {
		t.Errorf("the message tells more than it has to: %v", params["message"])
	}
	c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":"accept"}}`, asked["id"]))

	person := newBrowser(t)
	if status := person.open(address); status != http.StatusOK {
		t.Fatalf("%d: %s", status, person.page)
	}
	for _, want := range []string{"delete_note", "a.md", "A line that goes.", "trash"} {
		if !strings.Contains(person.page, want) {
			t.Errorf("%q is not on the page: %s", want, person.page)
		}
	}
	if strings.Contains(person.at.String(), address[strings.LastIndexByte(address, '/')+1:]) {
		t.Errorf("the id is still in the address: %s", person.at)
	}
	other := newBrowser(t)
	if status := other.open(address); status != http.StatusForbidden {
		t.Errorf("the address let a second one in: %d", status)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.md")); err != nil {
		t.Error("looking has deleted the note:", err)
	}
	if status := person.press("approve"); status != http.StatusOK || !strings.Contains(person.page, "Approved") {
		t.Fatalf("%d: %s", status, person.page)
	}
	told := c.line(t)
	if told["method"] == "notifications/elicitation/complete" {
		told = c.line(t)
	} else {
		t.Errorf("not told that it is complete: %v", told)
	}
	if result, _ := told["result"].(map[string]any); result == nil || result["isError"] == true {
		t.Errorf("%v", told)
	}
	if _, err := os.Stat(filepath.Join(dir, ".trash", "a.md")); err != nil {
		t.Error(err)
	}
}
