package importer

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/edition"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// store stores the recognised conversation of a document, and its branches as forks. left is tooEarly or isSecret if one of the branches is
// that, so that a later update must import the document.
func (imp *importer) store(ctx context.Context, d *reader, r recognised) (saved engine.SaveResult, left finding, err error) {
	switch r.is {
	case skipped:
		return saved, left, nil
	case unchanged:
		return imp.unchanged(ctx, r.in, r.record.known), left, nil
	case grown:
		saved, err = imp.grow(ctx, r)
		return saved, left, err
	}
	if saved, err = imp.conversation(ctx, r, d.sum()); err == nil && r.is != stored {
		left, err = imp.branchesOf(ctx, d, saved.Name)
	}
	if err != nil || left != isNew {
		return saved, left, err
	}
	if !saved.Changed { // otherwise the document was verified already
		if err := d.in.Verify(); err != nil {
			return engine.SaveResult{}, left, inputError(d.in, err)
		}
	}
	for _, learn := range imp.learned {
		learn()
	}
	return saved, left, nil
}

// branchesOf imports the branches of a document whose main conversation has become a session. left is tooEarly or isSecret for
// the first of them that is that, and otherwise isNew.
func (imp *importer) branchesOf(ctx context.Context, d *reader, session string) (left finding, err error) {
	for {
		conv, err, ok := d.next()
		if err != nil || !ok {
			return left, err
		}
		r, err := imp.recognise(ctx, d, imp.branchOf(d.in, session, conv.Suffix), &conv)
		if err != nil {
			return left, err
		}
		var fork engine.SaveResult
		switch r.is {
		case tooEarly, isSecret:
			return r.is, nil
		case unchanged:
			fork.Info = imp.here[r.record.known.Session]
		default:
			if fork, err = imp.conversation(ctx, r, d.sum()); err != nil {
				return left, err
			}
		}
		fork.State = nil // the states of all branches together would need too much memory
		imp.forks = append(imp.forks, fork)
	}
}

// conversation stores a conversation as a new session, or as the next snapshot of its session, unless that has it.
func (imp *importer) conversation(ctx context.Context, r recognised, digest string) (engine.SaveResult, error) {
	if r.is == stored {
		return engine.SaveResult{Info: imp.here[r.name]}, nil
	}
	saved, err := imp.commit(ctx, r)
	if err != nil {
		return engine.SaveResult{}, inputError(r.in, err)
	}
	if r.is == isNew {
		imp.made[r.name] = true
		imp.learned = append(imp.learned, func() { imp.waits(r.in, r.conv.Doc, r.name, saved.Document) })
	}
	for _, report := range r.conv.Doc.Damage {
		imp.result.Warnings = append(imp.result.Warnings, report)
	}
	imp.moved(r.name, saved.Info)
	now := sources.Source{Session: r.name, Snapshot: saved.Document, Digest: digest, Saved: r.record.at, Growth: growthOf(r.in, r.conv, saved)}
	imp.learned = append(imp.learned, func() { imp.remember(r.in, r.record, now) })
	return saved, nil
}

// inputError adds the name of a document to an error, unless the error has it.
func inputError(in input, err error) error {
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", in.path, err)
}

func (imp *importer) commit(ctx context.Context, r recognised) (engine.SaveResult, error) {
	in, c := r.in, imp.change
	c.Name, c.Base = r.name, r.base
	made, err := imp.edition(ctx, r)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e := made.Edit
	attachments, isKept, err := imp.keepNamedFiles(ctx, in, r.filter, e.Doc, e.Base)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Verify = in.Verify
	for _, version := range made.Links {
		e.NoteLink(version)
	}
	attached, err := imp.attachments(ctx, r)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Files, e.Attachments = attached.files, append(attachments, attached.contents...)
	e.Linker = in.home.Linker(e.Doc)
	if e.Stated, err = imp.links.of(ctx, c.Name); err != nil {
		return engine.SaveResult{}, err
	}
	if e.Linker != nil || e.Stated != nil {
		e.Shared = nil // the link of each message must be determined, also of shared ones
	}
	if (in.isSame || made.IsSame && !isKept && len(e.Files) == 0) && e.Base != nil {
		if next, err := e.Next(ctx, imp.tx); err != nil || !next.Changed {
			imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
			return engine.SaveResult{Info: imp.here[c.Name], Document: c.Base}, err
		}
	}
	isPart := made.IsPart || in.isFork && in.codec.IsPart != nil && !in.codec.IsPart(e.Doc.Header) // the document of a sub-agent is its parent's
	if err := imp.origin(ctx, in, e, isPart); err != nil {
		return engine.SaveResult{}, err
	}
	saved, err := imp.manager.sessions.CommitEdit(ctx, imp.tx, r.filter, e, c, trust.Unchanged)
	if !isPart {
		imp.stored = e.Origin
	}
	if err == nil {
		imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
		if imp.files != nil && !in.isFork {
			imp.result.Warnings = append(imp.result.Warnings, imp.files.warnings...)
		}
		for _, f := range e.Files {
			imp.result.Attached = append(imp.result.Attached, AttachedFile{c.Name, f})
		}
	}
	if err == nil && saved.Changed {
		imp.fresh[saved.ID], imp.fresh[saved.Document] = true, true
		imp.last, imp.lastID = saved.State, saved.Document
	}
	return saved, err
}

// edition returns the edition of a session that a conversation makes.
func (imp *importer) edition(ctx context.Context, r recognised) (made edition.Edition, err error) {
	if r.compared != nil {
		return r.compared.Edition(ctx, r.base, imp.here[r.name])
	}
	if made.Edit = imp.editOf(r.conv); r.is != isNew {
		made.Edit.Base, err = imp.load(ctx, r.base)
		return made, err
	}
	imp.nameSource(r.conv.Doc, r.in)
	return made, nil
}

// load returns the content of a snapshot that [sessions.isReadable].
func (imp *importer) load(ctx context.Context, snapshot string) (*view.View, error) {
	if imp.fresh[snapshot] {
		return view.New(ctx, imp.manager.store, imp.last)
	}
	return view.Load(ctx, imp.manager.store, snapshot)
}

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
		_ = o.Writer.Continue(e.Base.Headers[0].Origin)
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
