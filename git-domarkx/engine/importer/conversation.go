package importer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// document imports a document: its main conversation, and its branches as forks.
func (imp *importer) document(ctx context.Context, in input) (engine.SaveResult, error) {
	files := includeReader{root: filepath.Dir(in.path), digest: sha256.New(), redacted: in.withoutSecrets}
	defer files.close()
	if err := in.readThrough(files.digest); err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	in.isSame = isKnown && known.Digest == files.sum()
	if same, err := imp.isComplete(&in); err != nil {
		return engine.SaveResult{}, err
	} else if same {
		return imp.unchanged(ctx, in, known)
	}
	include := files.read
	if in.path == "-" {
		include = nil
	}
	var saved engine.SaveResult
	isFirst := true
	for conv, err := range in.conversations(include) {
		if err != nil {
			return saved, err
		}
		if isFirst {
			more := false
			if saved, more, err = imp.mainConversation(ctx, &in, conv, known, isKnown, &files); err != nil || !more {
				return saved, err
			}
			isFirst = false
			continue
		}
		fork, err := imp.fork(ctx, in, saved.Name, conv, files.sum())
		if err != nil {
			return saved, err
		}
		fork.State = nil // the states of all branches together would need too much memory
		imp.forks = append(imp.forks, fork)
	}
	return imp.finish(&in, saved)
}

// finish verifies that the document is still what was read, and records it.
func (imp *importer) finish(in *input, saved engine.SaveResult) (engine.SaveResult, error) {
	if !saved.Changed { // otherwise the document was verified already
		if err := in.verify(); err != nil {
			return engine.SaveResult{}, inputError(*in, err)
		}
	}
	for _, learn := range imp.learned {
		learn()
	}
	return saved, nil
}

// isComplete reports whether the session has the document, without reading what it contains.
func (imp *importer) isComplete(in *input) (bool, error) {
	if !in.isSame || imp.homes.IsNew(in.home) || imp.links != nil || len(imp.attach) > 0 {
		return false, nil
	}
	includes, err := in.includes()
	if err != nil || includes {
		return false, err
	}
	shows, err := in.showsImages()
	return !shows, err
}

// mainConversation imports the main conversation of a document. more reports whether the branches of the document are to
// be imported, too. It sets in.isSame.
func (imp *importer) mainConversation(ctx context.Context, in *input, conv conversation, known sources.Source, isKnown bool, files *includeReader) (saved engine.SaveResult, more bool, err error) {
	conv.doc.Damage = append(conv.doc.Damage, in.damage...)
	if in.codec.Images && conv.messages.Len() == 0 && !isKnown { // agents create a transcript before it has a message
		imp.result.Empty++
		return saved, false, nil
	}
	if imp.ignored(&conv.doc.Header) {
		imp.result.Ignored++
		return saved, false, nil
	}
	if imp.files, err = imp.filesOf(ctx, *in, conv, files.digest); err != nil {
		return saved, false, inputError(*in, err)
	}
	defer imp.files.close()
	if in.isSame = isKnown && known.Digest == files.sum(); in.isSame && imp.links == nil {
		grows, err := imp.linksMore(ctx, *in, conv.doc, known)
		if err == nil && !grows {
			saved, err = imp.unchanged(ctx, *in, known)
		}
		if err != nil || !grows {
			return saved, false, err
		}
	}
	saved, done, err := imp.conversation(ctx, *in, conv, known, files.sum())
	if err == nil && done {
		saved, err = imp.finish(in, saved)
	}
	return saved, !done, err
}

// conversation imports a conversation as a new session, or as the next snapshot of its session. It reports whether the
// session already has this document or a later one.
func (imp *importer) conversation(ctx context.Context, in input, conv conversation, known sources.Source, digest string) (engine.SaveResult, bool, error) {
	doc := conv.doc
	save, err := imp.saveOf(ctx, &in, doc, known, digest)
	if err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	in.isPart = save.isPart()
	c := imp.change
	if c.Name, c.Base, err = imp.place(ctx, in, doc, save.known); err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	if err := imp.mustRedact(ctx, in, c); err != nil {
		return engine.SaveResult{}, false, err
	}
	if err := in.check(conv, c.Base == ""); err != nil {
		return engine.SaveResult{}, false, err
	}
	if old, err := imp.isOld(ctx, in, save, c); err != nil || old {
		return engine.SaveResult{Info: imp.here[c.Name]}, true, err
	}
	saved, err := imp.commit(ctx, in, conv, c)
	if errors.Is(err, errLater) {
		return engine.SaveResult{}, false, err
	}
	if err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	if c.Base == "" {
		imp.made[c.Name] = true
		imp.learned = append(imp.learned, func() { imp.waits(in, doc, c.Name, saved.Document) })
	}
	for _, report := range doc.Damage {
		imp.result.Warnings = append(imp.result.Warnings, report)
	}
	imp.moved(c.Name, saved.Info)
	now := sources.Source{Session: c.Name, Snapshot: saved.Document, Digest: digest, Saved: save.at, Growth: growthOf(in, conv, saved)}
	imp.learned = append(imp.learned, func() { imp.remember(in, save, now) })
	return saved, false, nil
}

// inputError adds the name of a document to an error, unless the error has it.
func inputError(in input, err error) error {
	var syntax *syntax.Error
	if errors.As(err, &syntax) {
		return err
	}
	return fmt.Errorf("%s: %w", in.path, err)
}

func (imp *importer) commit(ctx context.Context, in input, conv conversation, c engine.Change) (engine.SaveResult, error) {
	made, err := imp.edition(ctx, in, conv, c)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e := made.edition
	c.Base = made.base
	attachments, isKept, err := imp.keepNamedFiles(ctx, in, e.Doc, e.Base)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Verify = in.verify
	for _, version := range made.links {
		e.NoteLink(version)
	}
	var contents []domarkx.Attachment
	if !in.isFork {
		if e.Files, contents, err = imp.files.store(ctx, imp.tx, c.Base); err != nil {
			return engine.SaveResult{}, err
		}
	}
	files, pictures, err := imp.attachPictures(ctx, in, conv.messages, c.Base)
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
	if (in.isSame || made.same && !isKept && len(e.Files) == 0) && e.Base != nil {
		if next, err := e.Next(ctx, imp.tx); err != nil || !next.Changed {
			imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
			return engine.SaveResult{Info: imp.here[c.Name], Document: c.Base}, err
		}
	}
	isPart := made.part || in.isFork && in.codec.IsPart != nil && !in.codec.IsPart(e.Doc.Header) // the document of a sub-agent is its parent's
	if err := imp.origin(ctx, in, e, isPart); err != nil {
		return engine.SaveResult{}, err
	}
	saved, err := imp.manager.sessions.CommitEdit(ctx, imp.tx, e, c)
	if !isPart {
		imp.stored = e.Origin
	}
	if err == nil {
		imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
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

// load returns the content of the snapshot that a document continues. If this update created the snapshot, load returns
// errLater, unless the snapshot is small and the last one that was created.
func (imp *importer) load(ctx context.Context, c engine.Change) (*view.View, error) {
	if tip := imp.here[c.Name].ID; imp.fresh[c.Base] && imp.lastID != c.Base || tip != c.Base && imp.fresh[tip] {
		return nil, errLater
	}
	switch {
	case imp.fresh[c.Base] && imp.last == nil:
		return nil, errLater
	case imp.fresh[c.Base]:
		return view.New(ctx, imp.manager.store, imp.last)
	}
	return view.Load(ctx, imp.manager.store, c.Base)
}
