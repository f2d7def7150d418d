package gitcmd

import (
	"fmt"
	"os"
	"path/filepath"
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
	id := head
	if ref, ok := strings.CutPrefix(head, "ref: "); ok && filepath.IsLocal(ref) {
		id = g.line(ref)
	}
	if oid.IsHex(id) && len(id) != g.Hash.HexSize() {
		return fmt.Errorf("the repository %q is at the commit %s: %w, because its configuration says that its hash function is %s; "+
			"correct extensions.objectFormat there", g.GitDir, id, domarkx.ErrUnsupported, g.Hash)
	}
	return nil
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
