package importer

import (
	"context"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// branchOf returns the input for one branch of a document.
func (imp *importer) branchOf(in input, name, suffix string) input {
	in.key, in.identity, in.name = sources.BranchKey(in.key, suffix), "", name+suffix
	if in.isFork = true; in.as != "" { // branches also get the name that the user gave
		in.as = refname.Map(in.name)
	}
	return in
}

// A branch is a branch of a document that was imported before.
type branch struct {
	in    input
	known sources.Source
}

// branches returns the branches that a document had when it was imported as known, and adds their sessions to imp.forks. It
// leaves out those whose sessions no longer exist, or cannot be read.
func (imp *importer) branches(ctx context.Context, in input, known sources.Source) []branch {
	var all []branch
	for _, suffix := range imp.sources.Branches(in.key) {
		of := imp.branchOf(in, known.Session, suffix)
		if src, isKnown, err := imp.known(ctx, of); err == nil && isKnown && src.Digest == known.Digest {
			all = append(all, branch{of, src})
			imp.forks = append(imp.forks, engine.SaveResult{Info: imp.here[src.Session]})
		}
	}
	return all
}

// unchanged returns the session that already has the document, and adds the sessions of the document's branches to
// imp.forks.
func (imp *importer) unchanged(ctx context.Context, in input, known sources.Source) engine.SaveResult {
	if in.codec.Images && in.stamp != "" {
		known.Stamp, known.Format = in.stamp, in.codec.Name
		imp.sources.Set(imp.key(in), known, known)
	}
	imp.branches(ctx, in, known)
	return engine.SaveResult{Info: imp.here[known.Session]}
}

// origin sets the original of an edition. All conversations of a document share one original. A fork keeps the original
// that it has. The original of a new session is stored together with the messages. If isPart is set, the document
// has only a part of the session, so that an export must not be the document.
func (imp *importer) origin(ctx context.Context, in input, e *edit.Edit, isPart bool) (err error) {
	if in.codec.Name == string(engine.Markdown) || in.row.database != "" {
		return nil
	}
	if in.isFork && e.Base != nil {
		if e.Origin = e.Base.Headers[0].Origin; e.Origin != "" {
			return nil
		}
	}
	if e.Origin = imp.stored; e.Origin != "" {
		if isPart {
			e.Origin, err = imp.tx.PartOrigin(e.Origin)
		}
		return err
	}
	content, verify := in.Checked()
	o := &edit.Original{Verify: verify}
	if o.Writer, err = imp.tx.BeginOrigin(in.codec.Name, content, in.Digest); err != nil {
		return err
	}
	if e.Base != nil && e.Base.Headers[0].Origin != "" {
		// An original that this update has stored cannot be read yet. To store it again takes no space.
		if err := o.Writer.Continue(ctx, e.Base.Headers[0].Origin); err != nil && ctx.Err() != nil {
			return err
		}
	}
	var isPlaced bool
	if o.Placed, isPlaced = e.Messages.(format.Placed); isPlaced && e.Base == nil {
		e.Original = o
		return nil
	}
	e.Origin, err = o.Finish(ctx)
	imp.stored = e.Origin
	if err == nil && isPart {
		e.Origin, err = imp.tx.PartOrigin(e.Origin)
	}
	return err
}

// growthOf returns what the next import needs in order to decode only the new part of a document that has become
// longer. It returns nil if such a document must be read from the beginning.
func growthOf(in input, conv document.Conversation, saved engine.SaveResult) *sources.Growth {
	if conv.State == "" || !saved.Grows || in.IsRedacted() || in.isPart {
		return nil // a removed message may come back, but its tombstone has its id
	}
	return &sources.Growth{Format: in.codec.Name, Size: in.Size, Read: conv.Read, State: conv.State}
}
