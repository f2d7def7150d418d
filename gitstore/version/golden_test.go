package version_test

import (
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// TestVersionExample compares a version with the example in SPEC.md.
func TestVersionExample(t *testing.T) {
	s, dir := newStore(t)
	version := writeVersion(t, s, "",
		top().owner(0, 0),
		directory(".git").owner(0, 0).mode(0o700),
		regular(".git/HEAD", "ref: refs/heads/main\n").owner(0, 0),
		directory("empty").owner(0, 0),
		regular("prog", "#!/bin/sh\n").owner(0, 0).mode(0o4755).xattr("user.origin", "here"),
		regular("prog", "#!/bin/sh\n").owner(0, 0).mode(0o4755).xattr("user.origin", "here").link("prog 2"),
		versionFile{Path: "queue", File: domarkx.File{Type: domarkx.Fifo, Mode: 0o660}}.owner(0, 7),
	)
	var listing strings.Builder
	listing.WriteString("    $ git ls-tree -r -t " + version + "\n")
	for line := range strings.Lines(git(t, dir, "ls-tree", "-r", "-t", version) + "\n") {
		listing.WriteString("    " + strings.Replace(line, "\t", "  ", 1))
	}
	listing.WriteString("    $ git cat-file blob " + version + ":.domarkx\n")
	for line := range strings.Lines(git(t, dir, "cat-file", "blob", version+":.domarkx") + "\n") {
		listing.WriteString("    " + line)
	}
	spec, err := os.ReadFile("../SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(spec), listing.String()) {
		t.Errorf("SPEC.md has not\n%s", listing.String())
	}
}
