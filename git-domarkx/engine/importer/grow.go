package importer

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// byOldPart recognises a document that only became longer since its last import, if that import created the newest snapshot
// of its session. It takes little time, except that it reads the whole document to verify that the old part is unchanged.
// It returns false if the document must be decoded from its beginning.
func (imp *importer) byOldPart(ctx context.Context, c *collector, in input) (recognised, bool, error) {
	none := recognised{}
	if in.path == "-" || in.row.database != "" || len(imp.Attach) > 0 || imp.Redact {
		return none, false, nil
	}
	known := imp.sources.Get(imp.key(in))
	tip, ok := imp.here[known.Session]
	if !ok || known.Growth == nil || tip.ID != known.Snapshot || imp.fresh[tip.ID] || tip.Messages == 0 ||
		c.Format != "" && c.Format != known.Growth.Format {
		return none, false, nil
	}
	in.codec, ok = format.ByName(imp.manager.codecs, known.Growth.Format)
	if !ok || in.codec.Grow == nil {
		return none, false, nil
	}
	added, err := document.ReadAddition(in.path, known)
	if err != nil || added == nil {
		return none, false, nil
	}
	in.stamp = added.Stamp
	r := recognised{is: unchanged, in: in, record: save{known: known}, name: known.Session, base: tip.ID}
	if added.Size == known.Growth.Size {
		return r, true, nil
	}
	headers, err := imp.manager.store.Header(ctx, tip.ID)
	if err != nil || len(headers) != 1 || headers[0].Origin == "" {
		return none, false, err
	}
	m := &growth{Addition: added, tip: tip, origin: headers[0].Origin}
	h, err := view.LoadHeader(ctx, imp.manager.store, headers)
	if err != nil {
		return none, false, err
	}
	m.parsed, ok, err = in.codec.Grow(format.Growth{Path: in.path, Data: m.Unread, State: known.Growth.State, Header: h})
	for k, msg := range m.parsed.Messages {
		ok = ok && edit.CheckDepth(tip.Messages+k, msg.Message) == nil
	}
	if err != nil || !ok {
		return none, false, nil // the import reports the error when it decodes the document
	}
	if r.is, r.more = grown, m; imp.ignored(&m.parsed.Header) {
		imp.result.Ignored++
		r.is = skipped
	}
	return r, true, nil
}

// A growth holds the part of a document that came after its last import.
type growth struct {
	*document.Addition
	parsed format.Grown
	tip    domarkx.Info
	origin string // of the tip
}

// grow appends the messages in the new part of a document to its session.
func (imp *importer) grow(ctx context.Context, r recognised) (engine.SaveResult, error) {
	in, known, more, grown := r.in, r.record.known, r.more, r.more.parsed
	c := imp.change
	c.Name, c.Base = r.name, r.base
	filter, err := imp.tx.Filter(ctx, c.Name)
	if err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	images, err := imp.newAttachments(ctx, filter, r.base)
	for k := 0; in.codec.Images && err == nil && k < len(grown.Messages); k++ {
		err = document.ImagesAsFiles(&grown.Messages[k], images.keep)
	}
	if err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	info, err := imp.appendGrown(ctx, c, more, images)
	if err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	for _, report := range grown.Damage {
		imp.result.Warnings = append(imp.result.Warnings, report)
	}
	branches := imp.branches(ctx, in, known)
	imp.fresh[info.ID] = true
	imp.moved(c.Name, info)
	now := sources.Source{Session: c.Name, Snapshot: info.ID, Digest: hex.EncodeToString(more.Digest[:]), Saved: known.Saved}
	if in.codec.Images {
		now.Stamp, now.Format = in.stamp, in.codec.Name
	}
	if grown.State != "" {
		now.Growth = &sources.Growth{Format: in.codec.Name, Size: more.Size, Read: known.Growth.Read + grown.Read, State: grown.State}
	}
	imp.sources.Set(imp.key(in), now, known)
	for _, b := range branches { // a longer document still has the same branches
		of := b.known
		of.Digest = now.Digest
		imp.sources.Set(imp.key(b.in), of, b.known)
	}
	if in.codec.Identify != nil {
		if id := in.codec.Identify(grown.Header).ID; id != "" {
			in.identity, in.key = id, in.codec.Name+":"+id
			imp.sources.Set(imp.key(in), now, imp.sources.Get(imp.key(in)))
		}
	}
	return engine.SaveResult{Info: info, Changed: true, Document: info.ID, Before: more.tip}, nil
}

// appendGrown commits the messages that were appended to a document.
func (imp *importer) appendGrown(ctx context.Context, c engine.Change, more *growth, images *attachmentSet) (domarkx.Info, error) {
	m, grown := imp.manager, more.parsed
	origin, err := imp.tx.GrowOrigin(ctx, more.origin, more.Added, more.Digest)
	if err != nil {
		return domarkx.Info{}, err
	}
	tail, err := m.sessions.Tail(ctx, more.tip)
	if err != nil {
		return domarkx.Info{}, err
	}
	e := edit.New(m.store, tail.View, &domarkx.Document{Header: grown.Header}, c.Committer)
	e.Derived, e.Origin = true, origin
	edit.Complete(e.Doc)
	if e.Keys, err = tail.View.Keys(ctx); err != nil {
		return domarkx.Info{}, err
	}
	commit := domarkx.Commit{State: &domarkx.State{}, Operation: c.Operation, Files: images.files, Attachments: images.contents,
		Subject: fmt.Sprintf("%s %s: %s more", c.Operation, c.Name, engine.Count(len(grown.Messages))), Author: c.Author, Committer: c.Committer}
	if commit.State.Headers, _, err = e.Headers(ctx, imp.tx); err != nil {
		return domarkx.Info{}, err
	}
	live := tail.State.Thread.Live
	after := live[len(live)-1].ID
	for _, msg := range grown.Messages {
		entry := edit.EntryOf(markdown.WriteMessage(msg.Message), e.DateOf(msg))
		entry.ID, entry.After = edit.OriginID(0, after, msg.Origin), after
		after = entry.ID
		commit.State.Thread.Live = append(commit.State.Thread.Live, entry)
	}
	info, err := tail.Append(ctx, imp.tx, images.filter, commit)
	if err != nil {
		return domarkx.Info{}, err
	}
	info.Name = c.Name
	return info, imp.tx.Set(ctx, c.Name, info, trust.Unchanged)
}
