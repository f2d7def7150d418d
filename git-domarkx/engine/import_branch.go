package engine

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// fork makes a session of a branch beside a document's own conversation, which became
// the session of that name. One that the branch became before stays as it is while the
// branch does.
func (imp *importer) fork(ctx context.Context, in input, name string, conv conversation, digest string) (Saved, error) {
	in = imp.branchOf(in, name, conv.suffix)
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

// branchOf is a document of which one branch is meant.
func (imp *importer) branchOf(in input, name, suffix string) input {
	in.key, in.identity, in.name = branchKey(in.key, suffix), "", name+suffix
	if in.isFork = true; in.as != "" { // the name goes for the branches, too
		in.as = imp.manager.store.MapName(in.name)
	}
	return in
}

// A branch is what is remembered of a branch of a document.
type branch struct {
	in    input
	known source
}

// branches returns the branches that a document had which is what it was when it
// became known, as far as their sessions are there.
func (imp *importer) branches(ctx context.Context, in input, known source) ([]branch, error) {
	var all []branch
	for _, suffix := range imp.sources.branches(in.key) {
		of := imp.branchOf(in, known.Session, suffix)
		src, isKnown, err := imp.known(ctx, of)
		var hidden *hiddenError
		if err != nil && !errors.As(err, &hidden) {
			return nil, inputError(in, err)
		}
		if isKnown && src.Digest == known.Digest {
			all = append(all, branch{of, src})
		}
	}
	return all, nil
}

// unchanged returns a session that has the document already, and notes those that have
// its branches.
func (imp *importer) unchanged(ctx context.Context, in input, known source) (Saved, error) {
	all, err := imp.branches(ctx, in, known)
	for _, b := range all {
		imp.forks = append(imp.forks, Saved{Info: imp.here[b.known.Session]})
	}
	return Saved{Info: imp.here[known.Session]}, err
}

// origin says of an edition which original it is made from, which all conversations of a
// document share. A fork keeps the one that it has. That of a new session is stored along
// with the messages.
func (imp *importer) origin(ctx context.Context, in input, e *edition) error {
	if in.codec.Name == string(Markdown) {
		return nil
	}
	if in.isFork && e.base != nil {
		if e.origin = e.base.headers[0].Origin; e.origin != "" {
			return nil
		}
	}
	if e.origin = imp.stored; e.origin != "" {
		return nil
	}
	o := &original{was: in.print, now: in.print.again()}
	content := io.TeeReader(io.NewSectionReader(in.content, 0, in.size), o.now)
	var err error
	if o.writer, err = imp.tx.BeginOrigin(in.codec.Name, content, in.digest); err != nil {
		return err
	}
	if e.base != nil && e.base.headers[0].Origin != "" {
		// One of this update cannot be read yet, and its content is not stored twice anyway.
		if err := o.writer.Continue(ctx, e.base.headers[0].Origin); err != nil && ctx.Err() != nil {
			return err
		}
	}
	var isPlaced bool
	if o.placed, isPlaced = e.messages.(format.Placed); isPlaced && e.base == nil {
		e.original = o
		return nil
	}
	e.origin, err = o.finish(ctx)
	imp.stored = e.origin
	return err
}

// An original is a document that is stored along with the messages that it says.
type original struct {
	writer   OriginWriter
	placed   format.Placed
	was, now *fingerprint // of the bytes that were read before, and of those that are stored
}

// finish stores the rest and returns the document's tree.
func (o *original) finish(ctx context.Context) (string, error) {
	tree, err := o.writer.Finish(ctx)
	if err == nil && !o.now.same(o.was) {
		err = errChanged
	}
	return tree, err
}

// along returns the messages, each when what says it is stored.
func (o *original) along(ctx context.Context, live iter.Seq2[domarkx.Entry, error]) iter.Seq2[domarkx.Entry, error] {
	return func(yield func(domarkx.Entry, error) bool) {
		k := 0
		for entry, err := range live {
			if err == nil {
				err = o.writer.Through(ctx, o.placed.End(k))
			}
			if !yield(entry, err) || err != nil {
				return
			}
			k++
		}
	}
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
