package note

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableEdits(t *testing.T) {
	format := func(s string) (TableEdit, error) { return FormatTable([]byte(s), TableRef{}) }
	row := func(at int, values ...string) func(string) (TableEdit, error) {
		return func(s string) (TableEdit, error) { return InsertRow([]byte(s), TableRef{}, at, values) }
	}
	column := func(at int, header string, align Align, values ...string) func(string) (TableEdit, error) {
		return func(s string) (TableEdit, error) {
			return InsertColumn([]byte(s), TableRef{}, at, header, align, values)
		}
	}
	sort := func(c ColumnRef, by SortBy, descending bool) func(string) (TableEdit, error) {
		return func(s string) (TableEdit, error) { return SortTable([]byte(s), TableRef{}, c, by, descending) }
	}
	for _, tt := range []struct {
		name string
		edit func(string) (TableEdit, error)
		text string
		want string
	}{
		{"a link's bar is no border", format, "| N | x |\n| - | - |\n| [[N\\|al]] | 1 |\n", "| N         | x   |\n| --------- | --- |\n| [[N\\|al]] | 1   |\n"},
		{"a bar in code cuts nothing off", format, "| a |\n| - |\n| `x|y` |\n", "| a      |\n| ------ |\n| `x\\|y` |\n"},
		{"surplus cells stay", format, "| a |\n| - |\n| b | c |\n", "| a   |\n| --- |\n| b   | c |\n"},
		{"alignment", format, "|a|b|c|\n|:-|:-:|-:|\n|1|2|3|\n", "| a   |  b  |   c |\n| :-- | :-: | --: |\n| 1   |  2  |   3 |\n"},
		{"wide characters", format, "|名前|b|\n|-|-|\n|a|🎉✔️e\u0301|\n", "| 名前 | b     |\n| ---- | ----- |\n| a    | 🎉✔️e\u0301 |\n"},
		{"no outer bars, short rows", format, "a | b\n-|-\nc\n\nend", "| a   | b   |\n| --- | --- |\n| c   |     |\n\nend"},
		{"in a callout", format, "> [!note]\n> |a|b|\n> |-|-|\n> |1|2|\n\nx |\n", "> [!note]\n> | a   | b   |\n> | --- | --- |\n> | 1   | 2   |\n\nx |\n"},
		{"in a list, CRLF", format, "- |a|\r\n  |-|\r\n  |1|", "- | a   |\r\n  | --- |\r\n  | 1   |"},
		{"not the one in code", format, "```\n|a|\n|-|\n```\n|b|\n|-|\n", "```\n|a|\n|-|\n```\n| b   |\n| --- |\n"},
		{"values are escaped", row(-1, "p|q\nr", "[[N\\|al]]"), "| a | b |\n|---|---|\n| 1 | 2 |\n", "| a | b |\n|---|---|\n| 1 | 2 |\n| p\\|q<br>r | [[N\\|al]] |\n"},
		{"a row in a quote", row(0, "x"), "> | a | b |\n> |---|---|\n> | 1 | 2 |", "> | a | b |\n> |---|---|\n> | x |  |\n> | 1 | 2 |"},
		{"an aligned table stays so", row(1, "x", "y"), "| a   | b   |\n| --- | --: |\n| 1   |   2 |\n", "| a   | b   |\n| --- | --: |\n| 1   |   2 |\n| x   |   y |\n"},
		{"the first row in a list, CRLF", row(0, "- x"), "- | a |\r\n  | - |", "- | a |\r\n  | - |\r\n  | - x |"},
		{"a column", column(1, "n|m", AlignRight, "x"), "|a|b|\n|-|:-:|\n|1|2|\n|3|\n", "| a | n\\|m | b |\n| --- | --: | :-: |\n| 1 | x | 2 |\n| 3 |  |\n"},
		{"a column at the end of an aligned table", column(-1, "c", AlignNone), "| a   |\n| --- |\n| 1   |\n", "| a   | c   |\n| --- | --- |\n| 1   |     |\n"},
		{"numbers, others last", sort(ColumnRef{Name: "N"}, SortNumber, false), "|n|\n|-|\n|10|\n|n/a|\n|9|\n|$1,000|\n|-2|\n", "|n|\n|-|\n|-2|\n|9|\n|10|\n|$1,000|\n|n/a|\n"},
		{"numbers down, others last", sort(ColumnRef{}, SortNumber, true), "|n|\n|-|\n|1|\n|n/a|\n|9|\n", "|n|\n|-|\n|9|\n|1|\n|n/a|\n"},
		{"stable", sort(ColumnRef{Index: 1}, SortText, true), "|a|b|\n|-|-|\n|1|x|\n| 2 | y |\n|3|X|\n|4||", "|a|b|\n|-|-|\n| 2 | y |\n|1|x|\n|3|X|\n|4||"},
		{"dates", sort(ColumnRef{}, SortDate, false), "|d|\n|-|\n|[[2031-02-03]]|\n|soon|\n|2030-01-01|\n", "|d|\n|-|\n|2030-01-01|\n|[[2031-02-03]]|\n|soon|\n"},
		{"sorted in a quote", sort(ColumnRef{}, SortText, false), "> |a|\n> |-|\n>|b|\n> |a|\r\n", "> |a|\n> |-|\n>|a|\n> |b|\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := tt.edit(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(e.Text)); diff != "" {
				t.Error(diff)
			}
			checkEdited(t, []byte(tt.text), e.Edited)
		})
	}
}

func TestTableErrors(t *testing.T) {
	text := []byte("x\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
	_, err := FormatTable(text, TableRef{Index: 1})
	missing, ok := errors.AsType[*NoTableError](err)
	if !ok || len(missing.Tables) != 1 || missing.Tables[0].Line != 3 || !slices.Equal(missing.Tables[0].Columns, []string{"a", "b"}) {
		t.Errorf("%v", err)
	}
	if _, err := FormatTable(text, TableRef{Line: 1}); err == nil {
		t.Error("a table in line 1")
	}
	if e, err := FormatTable(text, TableRef{Line: 5}); err != nil || e.Line != 3 || e.Rows != 1 || e.Columns != 2 {
		t.Error(e, err)
	}
	_, err = SortTable(text, TableRef{}, ColumnRef{Index: 9}, SortNumber, false)
	if none, ok := errors.AsType[*NoColumnError](err); !ok || len(none.Columns) != 2 {
		t.Error(err)
	}
	if _, err = SortTable(text, TableRef{}, ColumnRef{Name: "z"}, SortText, false); err == nil {
		t.Error("sorted by a column that is not there")
	}
	for _, err := range []error{
		second(InsertRow(text, TableRef{}, 2, nil)), second(InsertRow(text, TableRef{}, 0, []string{"1", "2", "3"})),
		second(InsertColumn(text, TableRef{}, 3, "c", 0, nil)), second(InsertColumn(text, TableRef{}, 0, "c", 0, []string{"1", "2"})),
	} {
		if _, ok := errors.AsType[*RangeError](err); !ok {
			t.Error(err)
		}
	}
}

func second(_ TableEdit, err error) error { return err }

// A few wide cells must not make a table many times as large.
func TestFormatTableGrowth(t *testing.T) {
	for _, text := range []string{
		"|a|b|\n|-|-|\n|" + strings.Repeat("x", 50_000) + "|\n" + strings.Repeat("|1|2|\n", 50_000),
		strings.Repeat("|a", 20_000) + "|\n" + strings.Repeat("|-", 20_000) + "|\n" + strings.Repeat("|1|\n", 20_000),
	} {
		e, err := FormatTable([]byte(text), TableRef{})
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Text) > 50*len(text) {
			t.Errorf("%d bytes became %d", len(text), len(e.Text))
		}
	}
}

func TestDisplayWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "名前": 4, "é": 1, "e\u0301": 1, "🎉": 2, "👩‍👩‍👧": 2, "👍🏽": 2, "✔️": 2, "🇩🇪": 2, "ｱ": 1} {
		if got := DisplayWidth(s); got != want {
			t.Errorf("%q is %d wide, want %d", s, got, want)
		}
	}
}
