package hitl

import (
	"strings"
	"testing"
	"time"

	"vault-mcp/vault/change"
)

var today = time.Date(2031, 2, 20, 12, 0, 0, 0, time.UTC)

// What was done long ago is history, whichever tool opens it again.
func TestATaskThatIsHistoryIsNotReopened(t *testing.T) {
	for _, tt := range []struct {
		what, earlier, was, is string
		asks                   bool
	}{
		{what: "the box is emptied", was: "- [x] a ✅ 2031-02-01\n", is: "- [ ] a ✅ 2031-02-01\n", asks: true},
		{what: "and the date goes too", was: "- [X] a #t ✅ 2031-02-01\n", is: "- [ ] a #t\n", asks: true},
		{what: "and the line moves", was: "- [x] a ✅ 2031-02-01\n", is: "more\n\n- [/] A\n", asks: true},
		{what: "and the text is another one", was: "x\n- [x] a ✅ 2031-02-01\ny\n", is: "x\n- [ ] b\ny\n", asks: true},
		{what: "text and line are others, the id is not", was: "- [x] a ✅ 2031-02-01 ^q\n", is: "more\n\n- [ ] b ^q\n", asks: true},
		{what: "it is cancelled", was: "- [x] a ✅ 2031-02-01\n", is: "- [-] a ✅ 2031-02-01\n", asks: true},
		{what: "it is one of two with the same text", was: "- [x] a ✅ 2031-02-01\n- [x] a ✅ 2031-02-19\n", is: "- [ ] a\n- [x] a ✅ 2031-02-19\n", asks: true},
		{what: "the date was taken away before", earlier: "- [x] a ✅ 2031-02-01\n", was: "- [x] a\n", is: "- [ ] a\n", asks: true},
		{what: "the date was made another one before", earlier: "- [x] a ✅ 2031-02-01\n", was: "- [x] a ✅ 2031-02-20\n", is: "- [ ] a\n", asks: true},
		{what: "the date is taken away", was: "- [x] a ✅ 2031-02-01\n", is: "- [x] a\n"},
		{what: "done a week ago", was: "- [x] a ✅ 2031-02-13\n", is: "- [ ] a\n"},
		{what: "done tomorrow", was: "- [x] a ✅ 2931-02-01\n", is: "- [ ] a\n"},
		{what: "no day of the calendar", was: "- [x] a ✅ 2031-02-31\n", is: "- [ ] a\n"},
		{what: "it never was done", was: "- [ ] a ✅ 2031-02-01\n", is: "- [ ] b\n"},
		{what: "it is taken away", was: "- [x] a ✅ 2031-02-01\nx\n", is: "x\n"},
		{what: "another one is added", was: "- [x] a ✅ 2031-02-01\n", is: "- [x] a ✅ 2031-02-01\n- [ ] a\n"},
		{what: "another one is opened", was: "- [x] a ✅ 2031-02-01\n- [x] b\n", is: "- [x] a ✅ 2031-02-01\n- [ ] b\n"},
		{what: "it moves", was: "- [x] a ✅ 2031-02-01\n- [ ] b\n", is: "- [ ] b\n- [x] a ✅ 2031-02-01\n"},
		{what: "it is in code", was: "```\n- [x] a ✅ 2031-02-01\n```\n", is: "```\n- [ ] a\n```\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			earlier := func(string) ([]byte, bool) { return []byte(tt.earlier), tt.earlier != "" }
			got := FloorOf(change.Plan{Edits: []change.Edit{put("a.md", tt.was, tt.is)}}, today, earlier)
			if strings.Contains(got, "reopens") != tt.asks || !tt.asks && got != "" {
				t.Errorf("%q", got)
			}
		})
	}
}
