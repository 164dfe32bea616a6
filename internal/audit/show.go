package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"vault-mcp/cache/state"
	"vault-mcp/hitl"
)

// shown is a row as --json prints it. Empty members are left out.
type shown struct {
	Seq       int64     `json:"seq"`
	At        string    `json:"at"`
	Kind      string    `json:"kind"`
	Tool      string    `json:"tool,omitempty"`
	Caller    string    `json:"caller,omitempty"`
	Vault     string    `json:"vault,omitempty"`
	Call      string    `json:"call_hash,omitempty"`
	Request   string    `json:"request_id,omitempty"`
	Grant     string    `json:"grant_id,omitempty"`
	Change    string    `json:"change_id,omitempty"`
	Route     string    `json:"route,omitempty"`
	By        string    `json:"attested_by,omitempty"`
	Outcome   string    `json:"outcome,omitempty"`
	Code      string    `json:"code,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Approval  *approval `json:"approval,omitempty"` // behind a change
	Led       *led      `json:"led_to,omitempty"`   // by a request or its approval
	Paths     []string  `json:"paths,omitempty"`
	MorePaths int       `json:"paths_more,omitempty"`
}

type approval struct {
	Request string `json:"request_id"`
	Route   string `json:"route"`
	By      string `json:"attested_by"`
	At      string `json:"at"`
}

type led struct {
	Change  string `json:"change_id"`
	Outcome string `json:"outcome"`
}

// PrintJSON prints rows as lines of JSON.
func PrintJSON(w io.Writer, rows []state.Audited) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, a := range rows {
		s := shown{
			Seq: a.Seq, At: a.At.Format(time.RFC3339Nano), Kind: string(a.Kind), Tool: a.Tool, Caller: a.Caller, Vault: a.Vault,
			Call: a.Call, Request: a.Request, Grant: a.Grant, Change: a.Change, Route: a.Route, By: a.By,
			Outcome: a.Outcome, Code: a.Code, Reason: a.Reason, Paths: a.Paths, MorePaths: a.More,
		}
		if p := a.Approval; p != nil {
			s.Approval = &approval{p.Request, string(p.Route), p.By, p.At.Format(time.RFC3339Nano)}
		}
		if a.Did != "" {
			s.Led = &led{a.Did, a.Became}
		}
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// Print prints rows for a person, one a line. What could hide or reorder a part
// of a line is taken out.
func Print(w io.Writer, rows []state.Audited) error {
	for _, a := range rows {
		if _, err := fmt.Fprintln(w, line(a)); err != nil {
			return err
		}
	}
	return nil
}

func line(a state.Audited) string {
	parts := []string{a.At.Format(time.RFC3339), string(a.Kind)}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if a.Tool != "" {
		add("%s by %s in %s", a.Tool, a.Caller, a.Vault)
	}
	if a.Outcome != "" && a.Outcome != string(a.Kind) {
		add("%s", a.Outcome)
	}
	if a.Code != "" {
		add("%s", a.Code)
	}
	if a.Reason != "" {
		add("(%s)", a.Reason)
	}
	if a.By != "" {
		add("%s by %s", a.Route, a.By)
	}
	if a.Change != "" {
		add("change %s", a.Change)
	}
	switch p := a.Approval; {
	case p != nil:
		add("approved at %s by %s (%s, request %s)", p.At.Format(time.RFC3339), p.By, p.Route, p.Request)
	case a.Grant != "" && a.Change != "":
		add("approved (that is no longer kept)")
	case a.Request != "":
		add("request %s", a.Request)
	}
	if a.Did != "" {
		add("led to change %s, %s", a.Did, a.Became)
	}
	for i := range parts {
		parts[i] = hitl.Display(parts[i])
	}
	for _, p := range a.Paths {
		parts = append(parts, fmt.Sprintf("%q", p))
	}
	if a.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", a.More))
	}
	return strings.Join(parts, "  ")
}

// PrintReport prints what Verify has found in a vault's audit, and reports
// whether the audit is whole.
func PrintReport(w io.Writer, vault string, r state.AuditReport) (whole bool, err error) {
	for _, f := range r.Faults {
		if _, err := fmt.Fprintf(w, "%s: %s\n", vault, f); err != nil {
			return false, err
		}
	}
	if r.More {
		_, err = fmt.Fprintf(w, "%s: There are more faults.\n", vault)
	}
	if err != nil || len(r.Faults) > 0 {
		return false, err
	}
	if r.Rows == 0 {
		_, err = fmt.Fprintf(w, "%s: the audit is whole and has no rows\n", vault)
		return true, err
	}
	_, err = fmt.Fprintf(w, "%s: the audit is whole: %d rows, %d to %d, hash %s\n", vault, r.Rows, r.First, r.Last, r.Head)
	return true, err
}

// Time reads a time of the command line: RFC 3339, or a date of this place. "" is
// none.
func Time(s string) (t time.Time, err error) {
	if s == "" {
		return t, nil
	}
	if t, err = time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err = time.ParseInLocation(time.DateOnly, s, time.Local); err != nil {
		err = fmt.Errorf("%q is neither a date, as 2006-01-31, nor a time, as 2006-01-31T15:04:05Z", s)
	}
	return t, err
}
