package gitcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// filesAgree returns an error if files of a repository with the files backend contradict its configuration. Git then finds none
// of its references, and writes new ones beside them.
func (g *Git) filesAgree() error {
	head := g.line("HEAD")
	if head == "ref: refs/heads/.invalid" { // gitformat-reftable(5) demands it
		return fmt.Errorf("the repository %q has its references in the reftable backend: %w, because its configuration does not say so; "+
			"correct it: git config core.repositoryFormatVersion 1, then git config extensions.refStorage reftable", g.GitDir, domarkx.ErrUnsupported)
	}
	id, what := head, "is at the commit"
	if ref, ok := strings.CutPrefix(head, "ref: "); ok && filepath.IsLocal(ref) {
		id = g.line(ref)
	}
	if !oid.IsHex(id) {
		id, what = g.foreignObject(), "has the object or pack"
	}
	if oid.IsHex(id) && len(id) != g.Hash.HexSize() {
		return fmt.Errorf("the repository %q %s %s: %w, because its configuration says that its hash function is %s; "+
			"correct extensions.objectFormat there", g.GitDir, what, id, domarkx.ErrUnsupported, g.Hash)
	}
	return nil
}

// foreignObject returns the id of an object or pack of another hash function, "" if one of the repository's own is there.
func (g *Git) foreignObject() (foreign string) {
	dirs, _ := os.ReadDir(g.ObjectDir)
	for _, dir := range slices.Backward(dirs) { // packs come first
		files, _ := os.ReadDir(filepath.Join(g.ObjectDir, dir.Name()))
		for _, file := range files {
			id, isPack := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".idx"), "pack-")
			if !isPack {
				id = dir.Name() + id
			}
			switch {
			case !oid.IsHex(id):
			case len(id) == g.Hash.HexSize():
				return ""
			default:
				foreign = id
			}
		}
	}
	return foreign
}

// line returns the first line of a file in the common directory, "" if it cannot be read.
func (g *Git) line(name string) string {
	data, err := os.ReadFile(filepath.Join(g.CommonDir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(text)
}
