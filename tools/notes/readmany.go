package notes

import (
	"context"
	"encoding/base64"
	"errors"
	"unicode/utf8"

	"vault-mcp/internal/auth"
	"vault-mcp/internal/fault"
	"vault-mcp/internal/fingerprint"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/note"
)

type readManyIn struct {
	tools.VaultArg
	Paths tools.Notes `json:"paths" jsonschema:"paths from the vault's root, with or without .md" limits:"minItems=1,maxItems=100"`
	tools.PageArg
}

type manyRow struct {
	Path        string      `json:"path"`
	Content     string      `json:"content"`
	ContentHash string      `json:"content_hash"`
	Size        int64       `json:"size"`
	MTime       string      `json:"mtime"`
	Encoding    string      `json:"encoding,omitempty" jsonschema:"base64 for a file that is no UTF-8 text"`
	Rest        *tools.Rest `json:"rest,omitempty" jsonschema:"what is not in content of a long note: read_note gives it with from_line and lines"`
}

type manyError struct {
	Path    string `json:"path"`
	Code    string `json:"code" jsonschema:"an error code, or too_large for a note that fits in no page"`
	Message string `json:"message"`
	Size    int64  `json:"size,omitempty" jsonschema:"of a note that is too large: its bytes in the answer"`
	Budget  int64  `json:"budget,omitempty" jsonschema:"what one page may have, in bytes"`
}

type manyOut struct {
	Notes      []manyRow   `json:"notes"`
	Errors     []manyError `json:"errors"`
	NextCursor *string     `json:"next_cursor"`
}

// Facts says what is in the notes without their texts.
func (o manyOut) Facts() any {
	f := manyFacts{[]manyFact{}, o.Errors, o.NextCursor}
	for _, n := range o.Notes {
		f.Notes = append(f.Notes, n.fact())
	}
	return f
}

type manyFacts struct {
	Notes      []manyFact  `json:"notes"`
	Errors     []manyError `json:"errors"`
	NextCursor *string     `json:"next_cursor"`
}

type manyFact struct {
	Path        string      `json:"path"`
	ContentHash string      `json:"content_hash"`
	Size        int64       `json:"size"`
	MTime       string      `json:"mtime"`
	Rest        *tools.Rest `json:"rest,omitempty"`
}

func (n manyRow) fact() manyFact { return manyFact{n.Path, n.ContentHash, n.Size, n.MTime, n.Rest} }

// frame is kept free on each page for everything but its rows, in bytes: the
// keys of both halves, the cursor twice, and the protocol's own fields.
const frame = 4 << 10

func readNotes() tools.Tool {
	return tools.Query(tools.Spec{
		Name:   "read_notes",
		Title:  "Read several notes",
		Doc:    "Reads up to 100 notes by path; those that cannot be read come as errors beside the others. Of a long note the first lines come.",
		Scope:  auth.Read,
		Narrow: "fewer paths",
		Long:   true,
	}, func(ctx context.Context, c *tools.Call, in readManyIn) (manyOut, error) {
		out := manyOut{Notes: []manyRow{}, Errors: []manyError{}}
		var at int
		if _, err := c.Page(in.Cursor, &at); err != nil {
			return out, err
		}
		budget := int64(c.Budget - frame)
		used, enough := int64(0), c.Soft.Chars()
		for ; at < len(in.Paths); at++ {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			row, problem := in.one(c, at, budget)
			cost, err := rowCost(c, row, problem)
			if err != nil {
				return out, err
			}
			if problem == nil && cost > budget {
				problem = bigRow(row.Path, cost, budget)
				if cost, err = rowCost(c, row, problem); err != nil {
					return out, err
				}
			}
			chars := utf8.RuneCountInString(row.Content)
			if used+cost > budget || chars > enough && used > 0 {
				break
			}
			used, enough = used+cost, enough-chars
			if problem != nil {
				out.Errors = append(out.Errors, *problem)
			} else {
				out.Notes = append(out.Notes, row)
			}
		}
		if at == len(in.Paths) {
			return out, nil
		}
		var err error
		out.NextCursor, err = c.NextCursor(at)
		return out, err
	})
}

// one reads the note at an index, or says why it cannot.
func (in readManyIn) one(c *tools.Call, at int, budget int64) (manyRow, *manyError) {
	ref := &in.Paths[at]
	p, err := ref.Path()
	if err != nil {
		return manyRow{}, problemOf(ref.Arg, err)
	}
	content, err := c.View.Read(p, maxNote)
	if big, ok := errors.AsType[*vault.TooLargeError](err); ok {
		return manyRow{}, bigRow(p.String(), big.Size, budget)
	}
	if err != nil {
		return manyRow{}, problemOf(ref.Arg, err)
	}
	row := manyRow{
		Path: p.String(), ContentHash: fingerprint.OfContent(content.Bytes).String(), Size: content.Size, MTime: tools.Clock(content.ModTime),
	}
	if vault.Text(content.Bytes) {
		text, part, err := tools.PartArg{}.Cut(c, content.Bytes, false, func() []int { return startsOf(note.Scan(content.Bytes)) })
		if err != nil {
			return row, problemOf(ref.Arg, err)
		}
		row.Content, row.Rest = string(text), part.Rest
	} else {
		row.Content, row.Encoding = base64.StdEncoding.EncodeToString(content.Bytes), "base64"
	}
	return row, nil
}

func problemOf(path string, err error) *manyError {
	e := fault.Of(err)
	return &manyError{Path: path, Code: string(e.Code), Message: e.Message}
}

func bigRow(path string, size, budget int64) *manyError {
	return &manyError{
		Path: path, Code: "too_large", Size: size, Budget: budget,
		Message: "The note fits in no page; read it in parts with read_note or read_section.",
	}
}

// rowCost is what a row takes in both halves of the answer.
func rowCost(c *tools.Call, row manyRow, problem *manyError) (int64, error) {
	var structured, fact any = row, row.fact()
	if problem != nil {
		structured, fact = problem, problem
	}
	n, err := c.Cost(structured)
	if err != nil {
		return 0, err
	}
	// A row of the text half repeats no keys, so its JSON is an upper bound
	// for it, also once its quotes are escaped.
	m, err := c.TextCost(fact)
	return int64(n + m + 2), err
}
