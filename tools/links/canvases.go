package links

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"vault-mcp/cache/index"
	"vault-mcp/internal/acl"
	"vault-mcp/tools"
	"vault-mcp/vault"
	"vault-mcp/vault/canvas"
)

// maxCanvases is how many canvases one call reads, in the order of paths.
const maxCanvases = 1000

// card is a card of a canvas that shows a file, which counts as a link to it
// (release note 1.12.0).
type card struct {
	source string
	canvas.Node
}

// shows reports whether the card shows a file: its path is the whole one.
func (k *card) shows(path string) bool {
	return k.File == path || norm.NFC.String(k.File) == norm.NFC.String(path)
}

// canvasesIn are the canvases that may be read.
func canvasesIn(w *acl.View, m *index.Model) []string {
	var paths []string
	for f := range m.Files() {
		if vault.Kind(f.Path) == vault.Canvas && w.Sees(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// cards are the file cards of canvases, which are read for it.
func cards(ctx context.Context, c *tools.Call, paths []string, ws *warnings) ([]card, error) {
	if over := len(paths) - maxCanvases; over > 0 {
		ws.add("", fmt.Sprintf("%d canvases are not looked at, as there are more than %d", over, maxCanvases))
		paths = paths[:maxCanvases]
	}
	var all []card
	for _, p := range paths {
		text, reason, err := readListed(ctx, c, p, canvas.MaxBytes)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			of, err := cardsOf(p, text)
			if err == nil {
				all = append(all, of...)
				continue
			}
			reason = err.Error()
		}
		if reason != "it is gone" {
			ws.add(p, reason)
		}
	}
	return all, nil
}

func cardsOf(path string, text []byte) ([]card, error) {
	cv, err := canvas.Read(text)
	if err != nil {
		return nil, err
	}
	files := cv.Files()
	of := make([]card, len(files))
	for i := range files {
		of[i] = card{path, files[i]}
	}
	return of, nil
}

// shown are the composed paths that cards show.
func shown(cards []card) map[string]bool {
	set := map[string]bool{}
	for i := range cards {
		set[norm.NFC.String(cards[i].File)] = true
	}
	return set
}

// missing are the cards whose file is not there.
func missing(ctx context.Context, c *tools.Call, cards []card) []card {
	known := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(cards), func(k card) bool {
		there, asked := known[k.File]
		if !asked {
			p, err := c.View.FindFile(ctx, k.File)
			there = err == nil && !p.IsDir() && c.View.Sees(p.String())
			known[k.File] = there
		}
		return there
	})
}
