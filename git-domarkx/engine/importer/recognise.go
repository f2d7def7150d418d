package importer

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/edition"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// A finding compares a conversation of a document with the sessions of the repository.
type finding int

const (
	isNew     finding = iota // no session has it: it becomes a new one
	unchanged                // its session has it
	stored                   // its session has it or a later save of it, but the record of imports does not say so
	grown                    // it only became longer since its last import, which created the newest snapshot of its session
	continued                // it continues a snapshot of its session
	isSecret                 // its session is redacted, and it is not redacted yet
	tooEarly                 // what it needs is another document of this request, or cannot be read before the update ends
	skipped                  // it is empty, or the request ignores it
)

// A recognised is a conversation of a document with its finding. The later steps of the import read it, make an
// edit of its session, and store that.
type recognised struct {
	is       finding
	in       input                 // with the key and the name of its session
	conv     document.Conversation // unset if the document need not be decoded
	record   save
	name     string              // of its session
	base     string              // the snapshot that it continues; "" for a new session
	filter   transaction.Filter  // for what is stored of it
	compared *edition.Comparison // with the snapshots of the session; nil if it continues base without a comparison
	more     *growth             // what a grown document has more
}

// recognise returns what a document is, or one of its branches. conv is the branch, and nil for the document itself. From one
// check to the next it needs more of the document: its time, its bytes, its header, its messages. So it opens and decodes a
// document only if the checks before say nothing.
func (imp *importer) recognise(ctx context.Context, d *reader, in input, conv *document.Conversation) (recognised, error) {
	if d.in.Content == nil {
		if r, ok := imp.byStamp(ctx, d.collector, in); ok {
			return r, nil
		}
		if r, ok, err := imp.byOldPart(ctx, d.collector, in); ok || err != nil {
			return r, err
		}
		if err := d.open(ctx); err != nil {
			return recognised{}, err
		}
	}
	if conv == nil {
		if err := d.begin(ctx); err != nil {
			return recognised{}, inputError(d.in, err)
		}
		in = d.in
	}
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return recognised{}, inputError(in, err)
	}
	same := isKnown && known.Digest == d.sum()
	if conv == nil {
		var is finding
		if conv, is, err = imp.main(ctx, d, known, isKnown, same); err != nil || conv == nil {
			return recognised{is: is, in: d.in, record: save{known: known}}, err
		}
		in.isSame = d.in.isSame
	} else if same {
		return recognised{is: unchanged, in: in, record: save{known: known}}, nil
	}
	return imp.byHeader(ctx, d, in, *conv, known)
}

// byStamp recognises a document whose stamp is that of its last import. It does not read the document.
func (imp *importer) byStamp(ctx context.Context, c *collector, in input) (recognised, bool) {
	if in.path == "-" || len(imp.Attach) > 0 || imp.links != nil || in.home.IsNew() || !in.isAsRecorded(imp.sources.Get(imp.key(in)), c.Format) {
		return recognised{}, false
	}
	known, ok, err := imp.known(ctx, in)
	return recognised{is: unchanged, in: in, record: save{known: known}}, err == nil && ok && in.isAsRecorded(known, c.Format)
}

// main reads the header of a document. conv is nil if that is not necessary, or if nothing is to be imported; is says why.
func (imp *importer) main(ctx context.Context, d *reader, known sources.Source, isKnown, same bool) (conv *document.Conversation, is finding, err error) {
	in := &d.in
	if same {
		if complete, err := imp.isComplete(in); err != nil || complete {
			return nil, unchanged, err
		}
	}
	first, err, ok := d.next()
	if err != nil || !ok {
		return nil, skipped, err
	}
	first.Doc.Damage = append(first.Doc.Damage, in.damage...)
	if in.codec.Images && first.Messages.Len() == 0 && !isKnown { // agents create a transcript before it has a message
		imp.result.Empty++
		return nil, skipped, nil
	}
	if imp.ignored(&first.Doc.Header) {
		imp.result.Ignored++
		return nil, skipped, nil
	}
	if imp.files, err = imp.filesOf(ctx, d, first); err != nil {
		return nil, skipped, inputError(*in, err)
	}
	if in.isSame = isKnown && known.Digest == d.sum(); in.isSame && imp.links == nil {
		if grows, err := imp.linksMore(ctx, *in, first.Doc, known); err != nil || !grows {
			return nil, unchanged, err
		}
	}
	return &first, isNew, nil
}

// isComplete reports whether the unchanged bytes of a document say all that it contains.
func (imp *importer) isComplete(in *input) (bool, error) {
	if in.home.IsNew() || imp.links != nil || len(imp.Attach) > 0 {
		return false, nil
	}
	includes, err := in.includes()
	if err != nil || includes {
		return false, err
	}
	shows, err := in.showsImages()
	return !shows, err
}

// byHeader recognises a conversation by the session that it names, by its name, and by its messages.
func (imp *importer) byHeader(ctx context.Context, d *reader, in input, conv document.Conversation, known sources.Source) (recognised, error) {
	r := recognised{in: in, conv: conv}
	refuse := func(err error) (recognised, error) { return r, inputError(in, err) }
	var waits bool
	var err error
	if r.record, waits, err = imp.saveOf(ctx, &r.in, conv.Doc, known, d.sum()); err != nil {
		return refuse(err)
	}
	if waits {
		r.is = tooEarly
		return r, nil
	}
	r.in.isPart = r.record.isPart()
	if r.name, r.base, err = imp.place(ctx, r.in, conv.Doc, r.record.known); err != nil {
		return refuse(err)
	}
	if r.filter, err = imp.filterOf(ctx, r); err != nil {
		return refuse(err)
	}
	if r.filter.Redaction() != nil && !r.in.IsRedacted() {
		r.is = isSecret
		return r, nil
	}
	if err := r.in.check(conv, r.base == ""); err != nil || r.base == "" {
		return r, err
	}
	if old, err := imp.isOld(ctx, r); err != nil || old {
		r.is = stored
		return r, err
	}
	if err := imp.byMessages(ctx, &r); err != nil {
		return refuse(err)
	}
	return r, nil
}

// byMessages sets the snapshot from which a document was made that continues a session.
func (imp *importer) byMessages(ctx context.Context, r *recognised) (err error) {
	r.is = continued
	tip := imp.here[r.name]
	isSeries := imp.fresh[tip.ID] || imp.fresh[r.base] // the document is a later save of the session
	if isSeries && (r.in.isPart || !imp.isReadable(tip.ID, r.base)) {
		r.is = tooEarly
		return nil
	}
	if isSeries || imp.links != nil { // the document may state other versions to link to
		return nil
	}
	document := edition.Document{Content: r.in.Content, Path: r.in.path, Codec: r.in.codec, Edit: imp.editOf(r.conv), IsFork: r.in.isFork, IsPart: r.in.isPart}
	if r.compared, err = imp.editions().Compare(ctx, document); err != nil {
		return err
	}
	r.base, err = r.compared.Base(ctx, r.base, tip)
	return err
}

// editions returns what makes editions of existing sessions.
func (imp *importer) editions() edition.Maker {
	return edition.Maker{Sessions: imp.manager.sessions, Store: imp.manager.store}
}

// editOf returns a conversation as an edit without a base.
func (imp *importer) editOf(conv document.Conversation) *edit.Edit {
	e := edit.New(imp.manager.store, nil, conv.Doc, imp.change.Committer)
	e.Derived, e.Messages, e.Shared = true, conv.Messages, imp.shared
	return e
}

// isReadable reports whether a snapshot can be loaded that this update created, or whose session it changed: only the last one
// that it created, and only if that is small.
func (s *sessions) isReadable(tip, base string) bool {
	return (tip == base || !s.fresh[tip]) && (!s.fresh[base] || s.lastID == base && s.last != nil)
}

// ignored reports whether the request leaves out conversations with the title in a header.
func (imp *importer) ignored(h *domarkx.Header) bool {
	title, ok := h.Meta().Get("title")
	return ok && imp.Ignore != nil && imp.Ignore(title.Text())
}
