package notes

import (
	"context"
	"encoding/binary"
	"fmt"

	"vault-mcp/internal/fault"
	"vault-mcp/tools"
	"vault-mcp/vault"
)

// contents is what is in a folder, whatever its caller may see of it.
type contents struct {
	Notes  int `json:"notes_in_it"`
	Others int `json:"other_files_in_it"`
	// state is bound to a confirmation: one who approves that a folder is moved
	// has not approved what comes into it afterwards.
	state [][]byte
}

func contentsOf(ctx context.Context, c *tools.Call, folder string) (in contents, err error) {
	err = c.View.Everything(ctx, folder, func(f vault.File) error {
		if vault.Kind(f.Path) == vault.Note {
			in.Notes++
		} else {
			in.Others++
		}
		b := append([]byte(f.Path), 0)
		b = binary.BigEndian.AppendUint64(b, uint64(f.Size))
		in.state = append(in.state, binary.BigEndian.AppendUint64(b, uint64(f.ModTime.UnixNano())))
		return nil
	})
	return in, err
}

func (in contents) String() string {
	return fmt.Sprintf("%s and %s", tools.Many(in.Notes, "note", "notes"), tools.Many(in.Others, "other file", "other files"))
}

// folderAt is the folder that an argument names by its own path: through a link
// another one than its path says would be moved or removed.
func folderAt(f *tools.Folder, argument string) (string, error) {
	p, err := f.Path()
	if err != nil {
		return "", err
	}
	clean, err := vault.Clean(f.Arg)
	switch {
	case err != nil:
		return "", err
	case p.String() == "":
		return "", fault.New(fault.InvalidInput, "The vault itself is neither moved nor deleted.").With("argument", argument)
	case vault.FoldName(clean) != vault.FoldName(p.String()):
		return "", fault.New(fault.InvalidInput, "%q is a link to the folder %q; name the folder itself.", f.Arg, p.String()).With("argument", argument)
	}
	return p.String(), nil
}
