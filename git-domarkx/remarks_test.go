package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/syntax"
)

// TestWarningsByKind checks that warnings that differ in names and numbers are one line with a count, and others are not.
func TestWarningsByKind(t *testing.T) {
	image := func(document, name, why string) error {
		return fmt.Errorf("%s: image %q is not attached: %w", document, name, errors.New(why))
	}
	var b strings.Builder
	printWarnings(&b, []error{
		image("a.md", "x y.png", "there is no such file"),
		&syntax.Error{Path: "a.jsonl", Line: 3, Column: 1, Msg: "bytes 20 to 30 could not be read"},
		image("sub/b.md", "z", "there is no such file"),
		image("a.md", "k.svg", "Git ignores it"),
		&syntax.Error{Path: "my own b.jsonl", Line: 7, Column: 1, Msg: "bytes 5 to 6 could not be read"},
		&syntax.Error{Path: "c.json", Line: 1, Column: 9, Pointer: "/messages/4", Msg: `required member "id" is missing`},
		image("c.md", `a"b`, "there is no such file"),
		&syntax.Error{Path: "c.json", Line: 1, Column: 9, Pointer: "/messages/5", Msg: `required member "role" is missing`},
	})
	want := `git-domarkx: warning: a.md: image "x y.png" is not attached: there is no such file (and 2 more like it)
a.jsonl:3:1: warning: bytes 20 to 30 could not be read (and 1 more like it)
git-domarkx: warning: a.md: image "k.svg" is not attached: Git ignores it
c.json:1:9: warning: /messages/4: required member "id" is missing (and 1 more like it)
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
