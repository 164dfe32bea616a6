package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTypes(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"\ufeff" + `{"types":{"Due":"date","tags":"tags","odd":1,"none":null,"empty":"","long":"` + strings.Repeat("x", 51) + `"},"more":1}`: {"Due": "date", "tags": "tags"},
		`{}`: {}, `{"types":[]}`: nil, `{"types":`: nil, ``: nil, `[]`: nil, `null`: {},
	} {
		got := Types(func(name string) ([]byte, error) {
			if name != "types.json" {
				t.Errorf("read %q", name)
			}
			return []byte(text), nil
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if got := Types(func(string) ([]byte, error) { return nil, errors.New("broken") }); got != nil {
		t.Errorf("of a file that cannot be read: %v", got)
	}
}
