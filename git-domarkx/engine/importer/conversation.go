package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/edition"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
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
	case stored:
		saved.Info = imp.here[r.name]
	default:
		if saved, err = imp.conversation(ctx, r, d.sum()); err == nil {
			left, err = imp.branchesOf(ctx, d, saved.Name)
		}
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
		case stored:
			fork.Info = imp.here[r.name]
		default:
			if fork, err = imp.conversation(ctx, r, d.sum()); err != nil {
				return left, err
			}
		}
		fork.State = nil // the states of all branches together would need too much memory
		imp.forks = append(imp.forks, fork)
	}
}

// conversation stores a conversation as a new session, or as the next snapshot of its session.
func (imp *importer) conversation(ctx context.Context, r recognised, digest string) (engine.SaveResult, error) {
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
	var syntax *syntax.Error
	if errors.As(err, &syntax) {
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
	var contents []domarkx.Attachment
	if !in.isFork {
		if e.Files, contents, err = imp.files.store(ctx, imp.tx, r.filter, c.Base); err != nil {
			return engine.SaveResult{}, err
		}
	}
	files, pictures, err := imp.attachPictures(ctx, in, r.conv.Messages, r.filter, c.Base)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Files, e.Attachments = append(e.Files, files...), slices.Concat(attachments, contents, pictures)
	e.Linker = imp.homes.LinkerOf(in.home, e.Doc)
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
