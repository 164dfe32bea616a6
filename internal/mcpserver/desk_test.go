package mcpserver_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vault-mcp/internal/app"
)

// What a call that needs a person would do: the whole of a note is replaced.
const (
	replacedNote = "Plants/Bean.md"
	replaceArgs  = `{"path":"Plants/Bean","content":"Other words.\n","mode":"overwrite"}`
	replacedBy   = "Other words.\n"
)

// slowly is how long a person takes to answer, at least.
const slowly = time.Second

// desk is a client of a server, whose calls need a person. Time passes only when
// nothing else happens.
type desk struct {
	*client
	home   string
	dir    string
	before map[string]string
	meta   string // of a modern request; "" is an older protocol
	app    *app.App
	id     int
}

// atDesk runs a test at a desk of its own. A version before 2026-07-28 begins with
// a handshake; capabilities are what the client declares.
func atDesk(t *testing.T, version, capabilities string, test func(*desk)) {
	t.Helper()
	atDeskWith(t, version, capabilities, nil, test)
}

// atDeskWith is atDesk with settings of elicit.
func atDeskWith(t *testing.T, version, capabilities string, elicit map[string]any, test func(*desk)) {
	t.Helper()
	dir, home := copyGarden(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := openDeskOf(t, newAppOf(t, slog.New(slog.DiscardHandler), home, ring, budget, elicit, dir), home, dir, version, capabilities)
		test(d)
		d.close()
	})
}

func openDesk(t *testing.T, home, ring, dir, version, capabilities string, otherDirs ...string) *desk {
	t.Helper()
	a := newAppIn(t, slog.New(slog.DiscardHandler), home, ring, budget, append([]string{dir}, otherDirs...)...)
	return openDeskOf(t, a, home, dir, version, capabilities)
}

func openDeskOf(t *testing.T, a *app.App, home, dir, version, capabilities string) *desk {
	t.Helper()
	d := &desk{client: connectTo(t, a), app: a, home: home, dir: dir, before: files(t, dir)}
	if version == "2026-07-28" {
		d.meta = strings.Replace(modernMeta, `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":`+capabilities, 1)
		return d
	}
	d.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if m := d.messages(); len(m) != 1 || m[0].Error != nil {
		t.Fatalf("handshake answered with %+v", m)
	}
	return d
}

// files is all that a folder holds.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path) // both are absolute
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// message is what a server sends, as far as these tests look at it.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Message         string
		Mode            *string
		URL             string
		ElicitationID   string
		RequestedSchema json.RawMessage
		RequestID       int
		Progress        int
	}
	Result *struct {
		ResultType    string
		InputRequests map[string]struct {
			Method string
			Params struct {
				Message         string
				Mode            *string
				URL             string
				ElicitationID   string
				RequestedSchema json.RawMessage
			}
		}
		RequestState      string
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent struct {
			Code, Recovery string
			Details        map[string]any
		}
		Meta map[string]any `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// messages is what the server has sent once it has nothing more to do.
func (d *desk) messages() (list []message) {
	d.t.Helper()
	synctest.Wait()
	for line := range strings.Lines(d.received()) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			d.t.Fatal(err, line)
		}
		list = append(list, m)
	}
	return list
}

// one is the only message that the server has sent.
func (d *desk) one() message {
	d.t.Helper()
	list := d.messages()
	if len(list) != 1 {
		d.t.Fatalf("%d messages, want one: %+v", len(list), list)
	}
	return list[0]
}

// request sends tools/call with params of its own beside the name and the
// arguments, such as `"requestState":"…"`.
func (d *desk) request(tool, args string, more ...string) (id string) {
	d.t.Helper()
	d.id++
	id = fmt.Sprint(d.id)
	params := slices.Concat([]string{fmt.Sprintf(`"name":%q`, tool), `"arguments":` + args}, more)
	if d.meta != "" && !slices.ContainsFunc(more, func(p string) bool { return strings.HasPrefix(p, `"_meta"`) }) {
		params = append(params, `"_meta":`+d.meta)
	}
	d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + strings.Join(params, ",") + `}}`)
	return id
}

// call is request and the one message that comes of it.
func (d *desk) call(tool, args string, more ...string) message {
	d.t.Helper()
	d.request(tool, args, more...)
	return d.one()
}

// replace makes the call that needs a person.
func (d *desk) replace(more ...string) message {
	d.t.Helper()
	return d.call("write_note", replaceArgs, more...)
}

// state and answers are params of a retry.
func state(s string) string { return `"requestState":` + fmt.Sprintf("%q", s) }

func answers(confirm string) string { return `"inputResponses":{"confirm":` + confirm + `}` }

// reply answers a request of the server.
func (d *desk) reply(to message, member string) {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":` + string(to.ID) + `,` + member + `}`)
}

// outcome says in a word what a message is: asks, done, or a code and its reason.
func (m message) outcome() string {
	reasonOf := func(details map[string]any) string {
		if r, ok := details["reason"].(string); ok {
			return " " + r
		}
		return ""
	}
	switch {
	case m.Method != "":
		return m.Method
	case m.Error != nil:
		return fmt.Sprint(m.Error.Code, reasonOf(m.Error.Data))
	case m.Result.ResultType == "input_required":
		return "asks"
	case m.Result.IsError:
		return m.Result.StructuredContent.Code + reasonOf(m.Result.StructuredContent.Details)
	}
	return "done"
}

// want checks what a message is.
func (d *desk) want(m message, outcome string) message {
	d.t.Helper()
	if got := m.outcome(); got != outcome {
		d.t.Errorf("got %s, want %s: %+v", got, outcome, m)
	}
	return m
}

// ledger is what the state of the first vault holds: the status of each request, each grant with
// what it was used for, and each execution.
func (d *desk) ledger() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.home, "state", "*", "state.db"))
	if err != nil || len(found) > 1 {
		d.t.Fatal(found, err)
	}
	if len(found) == 0 {
		return "nothing"
	}
	db, err := sql.Open("sqlite", "file://"+(&url.URL{Path: filepath.ToSlash(found[0])}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	var told []string
	for _, q := range []string{
		"SELECT 'request ' || status FROM requests ORDER BY seq",
		"SELECT 'grant by ' || attested_by || ' over ' || route || ' used ' || uses || iif(revoked_at, ' revoked', '') FROM grants ORDER BY issued_at, grant_id",
		"SELECT 'execution ' || outcome || iif(grant_id IN (SELECT grant_id FROM grants), '', ' without grant') FROM executions ORDER BY started_at, execution_id",
	} {
		rows, err := db.Query(q)
		if err != nil {
			d.t.Fatal(err)
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				d.t.Fatal(err)
			}
			told = append(told, s)
		}
		if err := rows.Err(); err != nil {
			d.t.Fatal(err)
		}
		rows.Close()
	}
	if len(told) == 0 {
		return "nothing"
	}
	return strings.Join(told, ", ")
}

// What the ledger holds after one call.
const (
	keptNothing  = "nothing"
	keptOpen     = "request open"
	keptDeclined = "request declined"
	keptByState  = "request used, grant by client over state used 1, execution applied"
	keptByForm   = "request used, grant by client over shim used 1, execution applied"
)

// left checks the ledger, and that the vault is as it was, or changed as the call
// says, nowhere else.
func (d *desk) left(ledger string) {
	d.t.Helper()
	if got := d.ledger(); got != ledger {
		d.t.Errorf("kept: %s, want %s", got, ledger)
	}
	want := d.before
	if ledger == keptByState || ledger == keptByForm || ledger == keptByPage {
		want = maps.Clone(want)
		want[replacedNote] = replacedBy
	}
	if got := files(d.t, d.dir); !maps.Equal(got, want) {
		d.t.Errorf("the vault is not as expected: %q", got[replacedNote])
	}
}
