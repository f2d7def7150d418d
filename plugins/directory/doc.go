// Package directory implements the common part of all resources that are a directory on this
// machine: [Resource] finds the directory, keeps its versions and calls its tools;
// [Files] implements the tools read_file, write_file, edit_file, list_dir, search, move
// and delete.
//
// The tools stay in the directory ([os.Root]), whatever path a call names and whatever
// symbolic links are planted meanwhile. They refuse links that lead out of it.
package directory

import (
	"github.com/domarkx/domarkx/format/domarkx"
)

// Tools returns the tools for a plugin's description.
func Tools() []domarkx.Tool {
	readOnly := func(t domarkx.Tool) domarkx.Tool { t.ReadOnly = true; return t }
	const path = `"path": {"type": "string", "description": "from the top of the directory, with slashes"}`
	return []domarkx.Tool{
		readOnly(domarkx.NewTool("read_file", "Returns the content of a file; of one over 1 MiB the beginning.", path, `"path"`)),
		domarkx.NewTool("write_file", "Makes a file have that content. Its directories are made when they are missing.",
			path+`, "content": {"type": "string"}`, `"path", "content"`),
		domarkx.NewTool("edit_file", "Replaces old_text, which must stand in the file exactly once, by new_text.",
			path+`, "old_text": {"type": "string", "minLength": 1}, "new_text": {"type": "string"}`, `"path", "old_text", "new_text"`),
		readOnly(domarkx.NewTool("list_dir", "Lists the files in a directory.", path, `"path"`)),
		readOnly(domarkx.NewTool("search", "Finds the lines that match a regular expression (RE2) in a file, or in all files of a directory.",
			`"pattern": {"type": "string"}, `+path, `"pattern"`)),
		domarkx.NewTool("move", "Moves a file or directory to a path where nothing is.",
			`"from": {"type": "string"}, "to": {"type": "string"}`, `"from", "to"`),
		domarkx.NewTool("delete", "Deletes a file, or a directory with all in it.", path, `"path"`),
	}
}
