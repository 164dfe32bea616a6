package stdio

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzMessages: whatever is sent, the server lives, answers a ping afterwards,
// and writes nothing but JSON-RPC messages.
func FuzzMessages(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range ar.Files {
			f.Add(section.Data)
		}
	}
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5000)))
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, nil, Options{MaxMessage: 4000})
			c.send(string(in), `{"jsonrpc":"2.0","id":"ping after the fuzz","method":"ping"}`)
			pong := false
			for _, line := range c.received() {
				var m struct {
					Version string `json:"jsonrpc"`
					ID      json.RawMessage
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
					t.Errorf("not a message: %q", line)
				}
				pong = pong || string(m.ID) == `"ping after the fuzz"`
			}
			if !pong {
				t.Error("no answer to the ping")
			}
			c.in.Close()
			if _, err := c.wait(); err != nil {
				t.Error(err)
			}
			c.open.Wait()
			if bytes.Contains(c.log.Bytes(), []byte("could not be sent")) && !strings.Contains(string(in), "unencodable") && !strings.Contains(string(in), "slot") {
				t.Error(c.log.String())
			}
		})
	})
}
