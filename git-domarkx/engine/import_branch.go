package engine

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// fork imports a branch of a document as a session of its own. name is the session of the
// document's main conversation. If the branch has not changed since its last import, its session
// stays unchanged.
func (imp *importer) fork(ctx context.Context, in input, name string, conv conversation, digest string) (SaveResult, error) {
	in = imp.branchOf(in, name, conv.suffix)
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return SaveResult{}, inputError(in, err)
	}
	if isKnown && known.Digest == digest {
		return SaveResult{Info: imp.here[known.Session]}, nil
	}
	saved, _, err := imp.conversation(ctx, in, conv, known, digest)
	return saved, err
}

// branchOf returns the input for one branch of a document.
func (imp *importer) branchOf(in input, name, suffix string) input {
	in.key, in.identity, in.name = branchKey(in.key, suffix), "", name+suffix
	if in.isFork = true; in.as != "" { // the name that the user gave also applies to branches
		in.as = imp.manager.store.MapName(in.name)
	}
	return in
}

// A branch is a known branch of a document.
type branch struct {
	in    input
	known source
}

// branches returns the branches that a document had when it was imported as known, as far as
// their sessions still exist.
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

// unchanged returns the session that already has the document, and adds the sessions of its
// branches to imp.forks.
func (imp *importer) unchanged(ctx context.Context, in input, known source) (SaveResult, error) {
	all, err := imp.branches(ctx, in, known)
	for _, b := range all {
		imp.forks = append(imp.forks, SaveResult{Info: imp.here[b.known.Session]})
	}
	return SaveResult{Info: imp.here[known.Session]}, err
}

// origin sets the original of an edition, which all conversations of a document share. A fork
// keeps the original that it has. For a new session, the original is stored along with the
// messages.
func (imp *importer) origin(ctx context.Context, in input, e *edition) error {
	if in.codec.Name == string(Markdown) {
		return nil
	}
	if in.isFork && e.base != nil {
		if e.origin = e.base.Headers[0].Origin; e.origin != "" {
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
	if e.base != nil && e.base.Headers[0].Origin != "" {
		// An original of this update cannot be read yet. Its content is not stored twice anyway.
		if err := o.writer.Continue(ctx, e.base.Headers[0].Origin); err != nil && ctx.Err() != nil {
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

// An original is a document that is stored together with its messages.
type original struct {
	writer   *gitstore.OriginWriter
	placed   format.Placed
	was, now *fingerprint // of the bytes read before and of the bytes being stored
}

// finish stores the rest of the document and returns its tree.
func (o *original) finish(ctx context.Context) (string, error) {
	tree, err := o.writer.Finish(ctx)
	if err == nil && !o.now.same(o.was) {
		err = errChanged
	}
	return tree, err
}

// along returns the messages of live and stores the document up to the end of each message before
// it yields the message.
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

// A growth describes how to continue reading a document that grew.
type growth struct {
	Format string `json:"format"`
	Size   int64  `json:"size"` // of the document
	Read   int64  `json:"read"` // number of bytes that will not change
	State  string `json:"state"`
}

// growthOf returns how to continue a document that became a snapshot, or nil if a grown document
// must be read from the beginning.
func growthOf(in input, conv conversation, saved SaveResult) *growth {
	if conv.state == "" || !saved.grows {
		return nil // a removed message may return, but its id is taken
	}
	return &growth{Format: in.codec.Name, Size: in.size, Read: conv.read, State: conv.state}
}

// originID derives the id of a message from its name in the original document.
func originID(clock uint32, after domarkx.ID, origin string) domarkx.ID {
	return domarkx.DeriveID(clock, []byte("origin"), after[:], []byte(origin))
}
