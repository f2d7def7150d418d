package engine

import (
	"context"
	"io"

	"github.com/domarkx/domarkx"
)

// fork makes a session of a branch beside a document's own conversation, which became
// the session of that name. One that the branch became before stays as it is while the
// branch does.
func (imp *importer) fork(ctx context.Context, in input, name string, conv conversation, digest string) (Saved, error) {
	in.key, in.as, in.identity, in.name = in.key+"\n"+conv.suffix, "", "", name+conv.suffix
	in.isFork = true
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return Saved{}, inputError(in, err)
	}
	if isKnown && known.Digest == digest {
		return Saved{Info: imp.here[known.Session]}, nil
	}
	saved, _, err := imp.conversation(ctx, in, conv, known, digest)
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
	if imp.stored != "" {
		return imp.stored, nil
	}
	tree, err := imp.tx.StoreOrigin(ctx, in.codec.Name, io.NewSectionReader(in.content, 0, in.size))
	if err == nil {
		imp.stored = tree
	}
	return tree, err
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
func growthOf(in input, conv conversation, saved Saved) *growth {
	if conv.state == "" || !saved.grows {
		return nil // a removed message may come again, under an id that is taken
	}
	return &growth{Format: in.codec.Name, Size: in.size, Read: conv.read, State: conv.state}
}

// originID returns the id of a message that is called so in the document that it is
// from.
func originID(clock uint32, after domarkx.ID, origin string) domarkx.ID {
	return domarkx.DeriveID(clock, []byte("origin"), after[:], []byte(origin))
}
