package version_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

func TestCheckVersion(t *testing.T) {
	s, dir := newStore(t)
	good := writeVersion(t, s, "", top(), directory("a"), regular("a/b", "1"), directory("c"), regular("c/d", "2"))
	next := writeVersion(t, s, good, top(), directory("a"), regular("a/b", "1"), directory("c"), regular("c/d", "3"))
	h := newHostileTrees(t, dir)
	file := odb.TreeEntry{Mode: odb.ModeFile, Name: "f", ID: h.blob("x")}
	directory := func(name string, id odb.ID) odb.TreeEntry {
		return odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id}
	}
	parse := func(id string) odb.ID {
		parsed, err := odb.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	broken := h.tree(odb.TreeEntry{Mode: odb.ModeSubmodule, Name: "sub", ID: file.ID})
	deep, wide, many := h.tree(file), h.tree(file), h.tree(file)
	for range 1100 {
		deep = h.tree(directory("d", deep))
	}
	for range 40 { // 2^40 directories if each were visited
		wide = h.tree(directory("l", wide), directory("r", wide))
	}
	for range 20 {
		many = h.tree(directory("l", many), directory("r", many))
	}
	huge := func(size string) odb.ID {
		chunks := h.tree()
		pointer := fmt.Sprintf("domarkx-large 1\nsize %s\nsha256 %064d\nchunks %s\n", size, 0, chunks)
		return h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: ".domarkx+f", ID: chunks}, odb.TreeEntry{Mode: odb.ModeFile, Name: "f", ID: h.blob(pointer)})
	}
	half := huge("40000000000000")
	shallow := h.tree(file)
	for range 990 {
		shallow = h.tree(directory("d", shallow))
	}
	far := shallow
	for range 50 {
		far = h.tree(directory("d", far))
	}
	versions := map[string]struct {
		id   odb.ID
		want error
	}{
		"good": {parse(next), nil}, "broken": {h.tree(directory("a", h.tree(directory("b", broken)))), domarkx.ErrCorrupt},
		"deep": {deep, domarkx.ErrCorrupt}, "wide": {wide, domarkx.ErrCorrupt}, "many": {many, nil},
		"wide below another directory": {h.tree(directory("a", h.tree(directory("l", many))), directory("b", wide)), domarkx.ErrCorrupt},
		"large":                        {half, nil}, "large twice": {h.tree(directory("l", half), directory("r", half)), domarkx.ErrCorrupt},
		"beyond any number":          {huge("9223372036854775807"), domarkx.ErrCorrupt},
		"deep where it is seen last": {h.tree(directory("a", shallow), directory("b", far)), domarkx.ErrCorrupt},
	}
	if err := h.batch.Sync(); err != nil {
		t.Fatal(err)
	}
	for name, v := range versions {
		for _, base := range []string{"", good, broken.String()} {
			if err := s.CheckVersion(t.Context(), base, fmt.Sprint(v.id)); !errors.Is(err, v.want) {
				t.Errorf("%s, from %q: %v", name, base, err)
			}
		}
	}
	if err := s.CheckVersion(t.Context(), broken.String(), broken.String()); err != nil {
		t.Errorf("what is known already is looked at: %v", err)
	}
}
