package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vault-mcp/internal/app"
	"vault-mcp/internal/auth"
	"vault-mcp/internal/dispatch"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/internal/racing"
)

// noise is bytes that no encoding makes smaller.
func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{7})
	_, _ = r.Read(b) // never fails
	return string(b)
}

func withBudget(t *testing.T, dir string, budget int) *app.App {
	t.Helper()
	return start(t, t.TempDir(), fmt.Sprintf("vaults: [{path: %q}]\ngovernor: {max_response_bytes: %d}\n", dir, budget))
}

type bytesPart struct {
	Content     string
	Offset      int64
	Size        int64
	ContentHash string  `json:"content_hash"`
	Next        *string `json:"next_cursor"`
}

// A file of the size that is promised comes whole, in parts that each fit an
// answer, whatever the client.
func TestLargeAttachmentComesInParts(t *testing.T) {
	racing.Skips(t)
	deep := strings.Repeat("é\"", 50)
	long := strings.Join([]string{deep, deep, deep, deep, "a.mp4"}, "/")
	tests := []struct {
		name   string
		size   int
		budget int
		path   string
		args   args
	}{
		{"ten megabytes", 10_000_000, 1_000_000, "film.mp4", args{}},
		{"a picture's bytes", 1_000_000, 1_000_000, "big.png", args{"format": "json"}},
		{"small answers", 50_000, 10_000, "sound.mp3", args{"format": "json"}},
		{"a long path", 50_000, 10_000, long, args{}},
		{"empty", 0, 10_000, "empty.pdf", args{"format": "json"}},
		{"one byte", 1, 10_000, "one.mp3", args{}},
	}
	for _, tt := range tests {
		for _, textOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, text only %v", tt.name, textOnly), func(t *testing.T) {
				dir, want := t.TempDir(), noise(tt.size)
				plant(t, dir, map[string]string{tt.path: want, "a.md": ""})
				a := withBudget(t, dir, tt.budget)
				var all strings.Builder
				tt.args["path"] = tt.path
				delete(tt.args, "cursor")
				for pages := 0; ; pages++ {
					raw, err := json.Marshal(tt.args)
					if err != nil || pages > 100 {
						t.Fatal(pages, err)
					}
					res, err := a.Dispatcher.Do(t.Context(), dispatch.Request{
						Caller: auth.Caller{ID: "stdio", Scopes: auth.All}, Tool: "get_attachment", Args: raw, TextOnly: textOnly,
					})
					if err != nil {
						t.Fatal(err)
					}
					if res.Size() > tt.budget {
						t.Fatalf("the answer has %d bytes, over %d", res.Size(), tt.budget)
					}
					data := res.Structured
					if textOnly {
						data = json.RawMessage(res.Text)
					}
					var got bytesPart
					if err := json.Unmarshal(data, &got); err != nil {
						t.Fatal(err)
					}
					if got.Offset != int64(all.Len()/4*3) || got.Size != int64(tt.size) || got.ContentHash != fingerprint.OfContent([]byte(want)).String() {
						t.Fatalf("part %d: offset %d, size %d, hash %s", pages, got.Offset, got.Size, got.ContentHash)
					}
					if got.Next != nil && res.Size() < tt.budget*9/10 && tt.path != long {
						t.Errorf("the answer has %d bytes where %d may be", res.Size(), tt.budget)
					}
					all.WriteString(got.Content)
					if got.Next == nil {
						break
					}
					tt.args["cursor"] = *got.Next
				}
				b, err := base64.StdEncoding.DecodeString(all.String())
				if err != nil || !bytes.Equal(b, []byte(want)) {
					t.Errorf("the parts do not make the file: %d bytes, %v", len(b), err)
				}
			})
		}
	}
}

// Parts of two files are never mixed, even if they cannot be told by size and
// time.
func TestAttachmentThatChangedBetweenPagesIsRefused(t *testing.T) {
	dir := t.TempDir()
	one := noise(30_000)
	plant(t, dir, map[string]string{"x.mp3": one, "x.pdf": pdfOf(strings.Split(strings.Repeat(strings.Repeat("word ", 30)+"\n", 200), "\n")...)})
	a := withBudget(t, dir, 10_000)
	var got bytesPart
	if err := call(t, a, "get_attachment", args{"path": "x.mp3"}, &got); err != nil || got.Next == nil {
		t.Fatalf("%v, %v", got.Next, err)
	}
	_, cursor := text(t, a, args{"path": "x.pdf"})
	for _, name := range []string{"x.mp3", "x.pdf"} {
		file := filepath.Join(dir, name)
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plant(t, dir, map[string]string{name: "#" + string(old[1:])}) // with the same time
	}
	for name, cursor := range map[string]string{"x.mp3": *got.Next, "x.pdf": cursor} {
		e := fault.Of(call(t, a, "get_attachment", args{"path": name, "cursor": cursor}, &got))
		if e == nil || e.Code != fault.InvalidInput || e.Details["reason"] != "expired" || !strings.Contains(e.Message, "changed") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// A picture that no answer can hold is refused with its size and the way to
// its bytes; every other one is shown.
func TestPictureThatDoesNotFit(t *testing.T) {
	const budget = 20_000
	dir := t.TempDir()
	plant(t, dir, map[string]string{"a.md": ""})
	a := withBudget(t, dir, budget)
	shown, refused := 0, 0
	for size := budget/4*3 - 700; size < budget/4*3+10; size += 3 {
		plant(t, dir, map[string]string{"p.png": noise(size)})
		res, err := do(t.Context(), a, "get_attachment", `{"path":"p.png"}`)
		if err == nil {
			shown++
			if res.Size() > budget || len(res.Images) != 1 || len(res.Images[0].Data) != size || refused > 0 {
				t.Fatalf("a picture of %d bytes: an answer of %d", size, res.Size())
			}
			continue
		}
		refused++
		e := fault.Of(err)
		if e.Code != fault.Overflow || e.Details["size"] != int64(size) || !strings.Contains(fmt.Sprint(e.Details["narrow"]), "format json") {
			t.Fatalf("%v %v", e, e.Details)
		}
	}
	if shown == 0 || refused == 0 {
		t.Errorf("%d shown, %d refused", shown, refused)
	}
	var got bytesPart
	if err := call(t, a, "get_attachment", args{"path": "p.png", "format": "json"}, &got); err != nil || got.Next == nil {
		t.Errorf("its bytes: %v", err)
	}
}

var nextInHeader = regexp.MustCompile(` · more with cursor (\S+)`)

// text is an answer with the text of a PDF, its header included, and the cursor
// of the next. It skips the test where the programs are not installed.
func text(t *testing.T, a *app.App, in args) (answer, cursor string) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := do(t.Context(), a, "get_attachment", string(raw))
	if e := fault.Of(err); e != nil && e.Details["reason"] == "program_missing" {
		t.Skip("pdftotext and pdfinfo (poppler-utils) are not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	if res.Structured != nil {
		t.Errorf("text goes out as text alone, not as %.100s", res.Structured)
	}
	if m := nextInHeader.FindStringSubmatch(res.Text); m != nil {
		cursor = m[1]
	}
	return res.Text, cursor
}

// texts are the texts of all answers, without their headers.
func texts(t *testing.T, a *app.App, in args) []string {
	t.Helper()
	var all []string
	for {
		answer, cursor := text(t, a, in)
		_, body, _ := strings.Cut(answer, "\n")
		all = append(all, body)
		if cursor == "" {
			return all
		}
		if in["cursor"] = cursor; len(all) > 200 {
			t.Fatal("it never ends")
		}
	}
}

var pageLabel = regexp.MustCompile(`(?m)^\[pages? .*\]$`)

// Every page of a long PDF comes once, under its number, however often the
// answer is full.
func TestTextOfALongPDF(t *testing.T) {
	var pages []string
	for i := range 150 {
		pages = append(pages, fmt.Sprintf("This is the text of leaf %d. %s", i+1, strings.Repeat("word ", i%30)))
	}
	dir := t.TempDir()
	plant(t, dir, map[string]string{"long.pdf": pdfOf(pages...)})
	a := withBudget(t, dir, 10_000)
	var got []string
	answers := texts(t, a, args{"path": "long.pdf"})
	for _, part := range strings.Split(strings.Join(answers, "\n"), "[page ")[1:] {
		number, body, _ := strings.Cut(part, " of 150]\n")
		n, err := strconv.Atoi(number)
		if err != nil || n != len(got)+1 {
			t.Fatalf("page %q comes after %d", number, len(got))
		}
		got = append(got, strings.TrimSpace(body))
	}
	for i := range pages {
		pages[i] = strings.TrimSpace(pages[i])
	}
	if !slices.Equal(got, pages) {
		t.Errorf("got %d pages: %.300q", len(got), got)
	}
	if len(answers) < 3 {
		t.Errorf("only %d answers", len(answers))
	}
	if answer, cursor := text(t, withBudget(t, dir, 1_000_000), args{"path": "long.pdf", "from_page": 149}); cursor != "" ||
		!strings.Contains(answer, "pages 149-150 of 150\n[page 149 of 150]\nThis is the text of leaf 149") {
		t.Errorf("from page 149: %s", answer)
	}
	e := fault.Of(call(t, a, "get_attachment", args{"path": "long.pdf", "from_page": 151}, &struct{}{}))
	if e == nil || e.Details["argument"] != "from_page" || e.Details["pages"] != 150 {
		t.Errorf("a page behind the last: %v", e)
	}
}

// A page that is larger than an answer comes in several, without a gap.
func TestTextOfALongPage(t *testing.T) {
	var page []string
	for i := range 700 {
		page = append(page, fmt.Sprintf("Line %d \"quoted\" \\ and so on, to make a page that no answer holds", i))
	}
	dir := t.TempDir()
	plant(t, dir, map[string]string{"x.pdf": pdfFile{pages: []string{lines("The first page has a few words."), lines(page...), lines("The last page has a few words.")}}.bytes()})
	answers := texts(t, withBudget(t, dir, 10_000), args{"path": "x.pdf"})
	all := strings.Join(answers, "")
	var got []string
	for l := range strings.Lines(pageLabel.ReplaceAllString(strings.ReplaceAll(all, "[the page is too long", "[page is too long"), "")) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "[page is too long") {
			got = append(got, l)
		}
	}
	want := slices.Concat([]string{"The first page has a few words."}, page, []string{"The last page has a few words."})
	if !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d: %.500q", len(got), len(want), got)
	}
	if len(answers) < 5 || !strings.Contains(all, "[page 2 of 3, goes on]") || !strings.Contains(all, "too long for one answer") {
		t.Errorf("%d answers: %.300s", len(answers), all)
	}
}

// Pages without text are named, so that nobody takes them for empty.
func TestScannedPagesAreNamed(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"x.pdf":   pdfOf("A page with enough letters on it", "", " ", "", "Nr. 7", "Another page with enough letters"),
		"all.pdf": pdfOf("", "", ""),
	})
	a := withBudget(t, dir, 1_000_000)
	got, _ := text(t, a, args{"path": "x.pdf"})
	_, got, _ = strings.Cut(got, "\n")
	const want = `[page 1 of 6]
A page with enough letters on it

[pages 2-4 of 6: no text, perhaps scanned pictures]

[page 5 of 6: hardly any text, perhaps a scanned picture]
Nr. 7

[page 6 of 6]
Another page with enough letters
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got, _ := text(t, a, args{"path": "all.pdf"}); !strings.HasSuffix(got, "pages 1-3 of 3\n[pages 1-3 of 3: no text, perhaps scanned pictures]\n") {
		t.Errorf("got\n%s", got)
	}
}

// A file cannot shift the numbers of its pages, or invent pages, and no control
// character comes out of it.
func TestPDFThatLies(t *testing.T) {
	racing.Skips(t)
	f := pdfFile{info: "/Title (a\nPages: 99\nEncrypted: yes copy:no)"}
	for i := range 40 {
		f.pages = append(f.pages, lines(fmt.Sprintf("The true text of leaf number %d", i+1)))
	}
	var trick strings.Builder
	for _, r := range "\uFEFFThe trick of leaf\f and\f\x1b[2J more" {
		fmt.Fprintf(&trick, "%04X", r)
	}
	f.pages[1] = "/Span << /ActualText <" + trick.String() + "> >> BDC " + lines("x") + " EMC"
	dir := t.TempDir()
	plant(t, dir, map[string]string{"x.pdf": f.bytes()})
	got := strings.Join(texts(t, withBudget(t, dir, 10_000), args{"path": "x.pdf"}), "\n")
	if strings.ContainsAny(got, "\f\x1b") || strings.Contains(got, "99") {
		t.Errorf("got\n%s", got)
	}
	if !strings.Contains(got, "[page 2 of 40]\nThe trick of leaf  and  [2J more\n") {
		t.Errorf("page 2 in\n%.300s", got)
	}
	for i := 2; i < 40; i++ {
		if want := fmt.Sprintf("[page %d of 40]\nThe true text of leaf number %d\n", i+1, i+1); strings.Count(got, want) != 1 {
			t.Errorf("page %d is not there once", i+1)
		}
	}
}

func TestPDFWhoseTextCannotBeHad(t *testing.T) {
	f := pdfFile{pages: []string{lines("A page with enough letters on it")}}
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{
		"locked.pdf": f.protect(-4, true).bytes(), "asks.pdf": f.protect(-4&^16, false).bytes(), "free.pdf": f.protect(-4, false).bytes(),
		"broken.pdf": "%PDF-1.4\nnothing else", "note.pdf": "# A note\n", "empty.pdf": "", "good.pdf": f.bytes(),
	})
	a := withBudget(t, dir, 1_000_000)
	for name, asks := range map[string]bool{"asks.pdf": true, "free.pdf": false} {
		if got, _ := text(t, a, args{"path": name}); !strings.Contains(got, "A page with enough letters") || strings.Contains(got, "author asks") != asks {
			t.Errorf("%s: %s", name, got)
		}
	}
	refusal := func(a *app.App, in args) *fault.Error { return fault.Of(call(t, a, "get_attachment", in, &struct{}{})) }
	for name, reason := range map[string]string{"locked.pdf": "encrypted", "broken.pdf": "broken", "note.pdf": "broken", "empty.pdf": "broken"} {
		if e := refusal(a, args{"path": name}); e == nil || e.Code != fault.InvalidInput || e.Details["reason"] != reason {
			t.Errorf("%s: %v", name, e)
		}
	}
	if e := refusal(a, args{"path": "good.pdf", "max_bytes": 100}); e == nil || e.Details["argument"] != "max_bytes" {
		t.Errorf("too large: %v", e)
	}
	for _, in := range []args{{"path": "good.pdf", "format": "json", "from_page": 1}, {"path": "a.png", "from_page": 1}} {
		plant(t, dir, map[string]string{"a.png": "x"})
		if e := refusal(a, in); e == nil || e.Details["argument"] != "from_page" {
			t.Errorf("%v: %v", in, e)
		}
	}
	// A file that is no program stands for none.
	plant(t, home, map[string]string{"none": ""})
	missing := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\nprograms: {pdfinfo: ~/none}\n", dir))
	if e := refusal(missing, args{"path": "good.pdf"}); e == nil || e.Details["reason"] != "program_missing" ||
		!strings.Contains(e.Message, "install poppler-utils") || !strings.Contains(e.Message, "format json") || strings.Contains(e.Error(), home) {
		t.Errorf("no program: %v", e)
	}
	if err := call(t, missing, "get_attachment", args{"path": "good.pdf", "format": "json"}, &struct{}{}); err != nil {
		t.Errorf("the bytes need no program: %v", err)
	}
}

// Where the program fails on a page, the pages before come out, and the next
// call says what is wrong.
func TestPDFThatFailsHalfWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir, home := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"x.pdf": pdfOf(slices.Repeat([]string{"A page with enough letters on it"}, 50)...)})
	text(t, withBudget(t, dir, 1_000_000), args{"path": "x.pdf"}) // is it installed?
	plant(t, home, map[string]string{"failing": "#!/bin/sh\n[ \"$6\" -gt 20 ] && exit 1\nexec pdftotext \"$@\"\n"})
	if err := os.Chmod(filepath.Join(home, "failing"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\nprograms: {pdftotext: ~/failing}\n", dir))
	got, cursor := text(t, a, args{"path": "x.pdf"})
	if cursor == "" || !strings.Contains(got, "· pages 1-32 of 50 ·") {
		t.Fatalf("got %.300s", got)
	}
	if e := fault.Of(call(t, a, "get_attachment", args{"path": "x.pdf", "cursor": cursor}, &struct{}{})); e == nil || e.Details["reason"] != "broken" {
		t.Errorf("the next page: %v", e)
	}
}

// Calls that nobody waits for any more end their programs and make room for
// others.
func TestPDFCallsThatAreCancelled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir, home := t.TempDir(), t.TempDir()
	begun := filepath.Join(home, "begun")
	plant(t, dir, map[string]string{"x.pdf": pdfOf("A page with enough letters on it")})
	plant(t, home, map[string]string{"slow": fmt.Sprintf("#!/bin/sh\n: >'%s'\nsleep 300 & wait\n", begun)})
	if err := os.Chmod(filepath.Join(home, "slow"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := start(t, home, fmt.Sprintf("vaults: [{path: %q}]\nprograms: {pdfinfo: ~/slow}\n", dir))
	for range 5 { // more than are worked on at once
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := do(ctx, a, "get_attachment", `{"path":"x.pdf"}`)
			ended <- err
		}()
		for os.Remove(begun) != nil { // it has not begun
			select {
			case err := <-ended:
				t.Fatalf("it ended before it was cancelled: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		cancel()
		if e := fault.Of(<-ended); e == nil || e.Code != fault.Aborted {
			t.Errorf("got %v", e)
		}
	}
}
