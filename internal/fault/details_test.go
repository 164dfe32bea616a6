package fault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What the code puts into details is what docs/errors.md lists, and no more is
// listed.
func TestDetailsAreListed(t *testing.T) {
	codes := names(t)
	used := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			key, code, ok := detail(n)
			if !ok {
				return true
			}
			used[key] = true
			listed := slices.Contains(table[codes[code]].Details, key)
			if code == "" { // added to an error that was made elsewhere
				listed = slices.ContainsFunc(Table(), func(r Row) bool { return slices.Contains(r.Details, key) })
			}
			if !listed {
				t.Errorf("%s: the detail %q is not in the row of %s", fset.Position(n.Pos()), key, code)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range Table() {
		for _, key := range row.Details {
			if !used[key] {
				t.Errorf("%s lists the detail %q, which nothing gives", row.Code, key)
			}
		}
	}
}

// detail is the key of a call of With, and the name of the code's constant where
// the error is made in the same expression.
func detail(n ast.Node) (key, code string, ok bool) {
	c, _ := n.(*ast.CallExpr)
	name, on := method(c)
	if name != "With" || len(c.Args) != 2 {
		return "", "", false
	}
	lit, _ := c.Args[0].(*ast.BasicLit)
	if lit == nil || lit.Kind != token.STRING {
		return "", "", false
	}
	key, _ = strconv.Unquote(lit.Value)
	for c, _ = on.(*ast.CallExpr); c != nil; c, _ = on.(*ast.CallExpr) {
		if name, on = method(c); name == "New" && len(c.Args) > 0 {
			if sel, ok := c.Args[0].(*ast.SelectorExpr); ok {
				return key, sel.Sel.Name, true
			}
		}
	}
	return key, "", true
}

// method is the name of what is called, and on what.
func method(c *ast.CallExpr) (name string, on ast.Expr) {
	if c == nil {
		return "", nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", nil
	}
	return sel.Sel.Name, sel.X
}

// names are the codes by the names of their constants.
func names(t *testing.T) map[string]Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]Code{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
			code, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			codes[spec.Names[0].Name] = Code(code)
		}
		return true
	})
	return codes
}
