package field

import (
	"fmt"
	"strings"

	"vault-mcp/vault"
)

// The adapters in this file are those of the tools that change files.

// changed runs a tool; the text of the case is about a file.
func changed(tool string, in values, file string) func(*site) (answer, error) {
	return func(s *site) (answer, error) {
		out, err := s.call(tool, in)
		return answer{data: values{}, file: file}, orNot(out, err)
	}
}

// orNot is the error of a call that must have told what it did.
func orNot(out values, err error) error {
	if err == nil && text(out, "summary") == "" {
		return troublef("it says nothing of what it did: %v", out)
	}
	return err
}

func createNote(s *site, in values) (answer, error) {
	return changed("write_note", values{"path": in["path"], "content": in["content"]}, text(in, "path"))(s)
}

func deleteNote(s *site, in values) (answer, error) {
	return changed("delete_note", values{"path": in["path"]}, "")(s)
}

// moveFile moves a note, or what else a case calls one.
func moveFile(s *site, in values) (answer, error) {
	tool := "move_note"
	switch vault.Kind(text(in, "from")) {
	case vault.Note, vault.Canvas, vault.Base:
	default:
		if strings.Contains(text(in, "from"), ".") {
			tool = "move_attachment"
		}
	}
	return changed(tool, values{"from": in["from"], "to": in["to"]}, text(in, "to"))(s)
}

func moveFolder(s *site, in values) (answer, error) {
	return changed("move_folder", values{"from": in["from"], "to": in["to"]}, "")(s)
}

func renameHeading(s *site, in values) (answer, error) {
	return changed("rename_heading", values{"path": in["path"], "heading": in["heading"], "to": in["to"]}, text(in, "path"))(s)
}

func patch(s *site, in values) (answer, error) {
	args := values{"path": in["path"], "operation": in["mode"], "content": in["content"]}
	target, _ := in["target"].(values)
	switch kind := text(target, "type"); kind {
	case "heading":
		args["target_heading"] = target["heading"]
	case "block":
		args["block"] = target["block"]
	case "document":
		args["part"] = kind
	default:
		return answer{}, unsupported(fmt.Sprintf("target %q", kind))
	}
	return changed("patch_note", args, text(in, "path"))(s)
}
