package engine

import (
	"bytes"
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// decodeAll reads a document with all the conversations that it holds, its own first.
func decodeAll(codec format.Codec, src format.Source) ([]format.Branch, error) {
	if codec.Branches != nil {
		return codec.Branches(src)
	}
	doc, err := codec.Decode(src)
	return []format.Branch{{Document: doc}}, err
}

// fork makes a session of a branch beside a document's own conversation, which became
// the session of that name. One that the branch became before stays as it is while the
// branch does.
func (imp *importer) fork(ctx context.Context, in input, name string, b format.Branch, digest string) (Saved, error) {
	in.key, in.as, in.identity, in.name = in.key+"\n"+b.Suffix, "", "", name+b.Suffix
	in.isFork = true
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return Saved{}, inputError(in, err)
	}
	if isKnown && known.Digest == digest {
		return Saved{Info: imp.here[known.Session]}, nil
	}
	saved, _, err := imp.conversation(ctx, in, b, known, digest)
	return saved, err
}

// origin returns the tree of the original that a document is, which all its
// conversations share. A fork keeps the one that it has.
func (imp *importer) origin(ctx context.Context, in input, base *view) (string, error) {
	if in.codec.Name == string(Markdown) {
		return "", nil
	}
	if in.isFork && base != nil {
		if kept := base.state.Headers[0].Origin; kept != "" {
			return kept, nil
		}
	}
	if o := imp.stored; o.tree != "" && o.format == in.codec.Name && sameBytes(o.data, in.data) {
		return o.tree, nil
	}
	tree, err := imp.tx.StoreOrigin(ctx, in.codec.Name, bytes.NewReader(in.data))
	if err == nil && in.codec.Branches != nil {
		imp.stored = storedOrigin{in.codec.Name, in.data, tree}
	}
	return tree, err
}

// A storedOrigin is the original that was stored last.
type storedOrigin struct {
	format string
	data   []byte
	tree   string
}

// sameBytes reports whether two documents are one, not only equal.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// A growth tells how to read what a document grows by.
type growth struct {
	Format string `json:"format"`
	Size   int64  `json:"size"` // of the document
	Read   int64  `json:"read"` // bytes of it that will stay as they are
	State  string `json:"state"`
}

// growthOf returns how to read what a document grows by, of which a snapshot was made;
// nil when it has to be read anew.
func growthOf(in input, b format.Branch, saved Saved) *growth {
	if b.State == "" || saved.state == nil || saved.Merged || len(saved.state.Thread.Dead) > 0 || len(saved.state.Headers) != 1 {
		return nil // a removed message may come again, under an id that is taken
	}
	return &growth{Format: in.codec.Name, Size: int64(len(in.data)), Read: b.Read, State: b.State}
}

// originID returns the id of a message that is called so in the document that it is
// from.
func originID(clock uint32, after domarkx.ID, origin string) domarkx.ID {
	return domarkx.DeriveID(clock, []byte("origin"), after[:], []byte(origin))
}
