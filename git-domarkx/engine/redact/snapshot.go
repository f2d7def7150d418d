package redact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A rewriter makes the redacted commits of a history. It must be used within one update, parents
// before their children.
type rewriter struct {
	tx    *gitstore.Tx
	table *table
	drop  map[string]bool // resources and attachments that are dropped

	done     map[string]string   // commits and their redacted forms
	pieces   map[string]*written // messages by their blobs; nil for one without secrets
	trees    map[string]string   // trees of included files
	included map[string]string   // identifiers of included files
	origins  map[string]string   // trees of originals
	digests  map[string]domarkx.Attachment
	files    map[string]string // versions of resources

	directories map[string]string // directories of versions
	stuck       []Stuck
}

func newRewriter(tx *gitstore.Tx, t *table, drop []string) *rewriter {
	w := &rewriter{tx: tx, table: t, drop: map[string]bool{}, done: map[string]string{}, pieces: map[string]*written{}, trees: map[string]string{},
		included: map[string]string{}, origins: map[string]string{}, digests: map[string]domarkx.Attachment{}, files: map[string]string{}, directories: map[string]string{}}
	for _, name := range drop {
		w.drop[name] = true
	}
	return w
}

// parents returns the redacted forms of parents, and whether any differs.
func (w *rewriter) parents(ids []string) ([]string, bool) {
	now, changed := make([]string, len(ids)), false
	for i, id := range ids {
		now[i] = id
		if to, ok := w.done[id]; ok && to != id {
			now[i], changed = to, true
		}
	}
	return now, changed
}

// snapshot stores the redacted form of a snapshot, whose parents are done. The result is the snapshot
// itself where nothing in it or before it is redacted.
func (w *rewriter) snapshot(ctx context.Context, head snapshot.CommitHead, old *domarkx.State, joined bool) error {
	info := head.Info
	parents, changed := w.parents(head.Parents)
	attachments, moved, err := w.attachments(ctx, info.ID)
	if err != nil {
		return fmt.Errorf("snapshot %.12s: %w", info.ID, err)
	}
	state, rewritten, err := w.state(ctx, old)
	if err != nil {
		return fmt.Errorf("snapshot %.12s: %w", info.ID, err)
	}
	subject := w.subject(info, head.Parents)
	if !joined && !changed && !moved && !rewritten && subject == info.Subject {
		w.done[info.ID] = info.ID
		return nil
	}
	if err := w.originals(ctx, info.ID, state); err != nil {
		return fmt.Errorf("snapshot %.12s: %w", info.ID, err)
	}
	before := make([]string, len(state.Headers))
	for i, h := range old.Headers {
		before[i] = h.Origin
	}
	v, err := view.New(ctx, w.tx, state)
	if err != nil {
		return err
	}
	commit := domarkx.Commit{Parents: parents, State: state, Operation: info.Operation, Subject: subject, Bytes: v.Size(),
		Author: head.Author, Committer: head.Committer, Replaces: keyOf(info.ID, info.Replaces), Kept: attachments}
	if len(state.Thread.Live) > 0 {
		first, err := v.Message(ctx, 0)
		if err != nil {
			return err
		}
		commit.Preview = view.Preview(first)
	}
	now, err := w.tx.Commit(ctx, commit)
	if err != nil {
		return fmt.Errorf("snapshot %.12s: %w", info.ID, err)
	}
	for i, h := range state.Headers { // the commit has added the snapshot to an original
		if before[i] != "" {
			w.origins[before[i]] = h.Origin
		}
	}
	w.done[info.ID] = now.ID
	return nil
}

// keyOf returns the commit that a snapshot goes back to: the one it replaces, or itself.
func keyOf(id, replaces string) string {
	if replaces != "" {
		return replaces
	}
	return id
}

// store stores content, which stays in memory too, as an update cannot read all that it stored.
func (w *rewriter) store(ctx context.Context, data []byte) (domarkx.Blob, error) {
	blob, _, err := w.tx.StoreAttachment(ctx, bytes.NewReader(data))
	blob.Data = view.NotNil(data)
	return blob, err
}

// state returns the redacted state of a snapshot, without its originals.
func (w *rewriter) state(ctx context.Context, old *domarkx.State) (next *domarkx.State, changed bool, err error) {
	next = &domarkx.State{Thread: domarkx.Thread{Dead: old.Thread.Dead}}
	for _, h := range old.Headers {
		now, err := w.header(ctx, h)
		if err != nil {
			return nil, false, err
		}
		changed = changed || now.JSON.ID != h.JSON.ID || now.Source.ID != h.Source.ID || now.Includes != h.Includes
		next.Headers = append(next.Headers, now)
	}
	files, err := w.tx.Includes(ctx, old.Headers[0].Includes)
	if err != nil {
		return nil, false, err
	}
	for i := range files {
		files[i].Data, _ = w.table.redact(files[i].Data, false)
	}
	include := view.StoredInclude(files)
	next.Thread.Live = make([]domarkx.Entry, 0, len(old.Thread.Live))
	spans := map[string]string{} // identifiers of pieces that contain others
	for _, e := range old.Thread.Live {
		now, err := w.message(ctx, e, include)
		if err != nil {
			return nil, false, err
		}
		changed = changed || now.JSON.ID != e.JSON.ID || now.Source.ID != e.Source.ID
		if to, ok := w.included[now.Layout.Includes]; ok && now.Layout.Within == 0 {
			now.Layout.Includes = to
		}
		if e.Layout.Span > 0 {
			spans[e.Layout.SpanID()] = now.Layout.SpanID()
		}
		if to, ok := spans[now.Layout.Includes]; ok && now.Layout.Within > 0 {
			now.Layout.Includes = to
		}
		next.Thread.Live = append(next.Thread.Live, now)
	}
	return next, changed, nil
}

var mergeSubject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^merge ([0-9a-f]{12}) and ([0-9a-f]{12})$`) })

// subject returns the redacted subject of a snapshot. That of a merge names its parents.
func (w *rewriter) subject(info domarkx.Info, parents []string) string {
	m := mergeSubject().FindStringSubmatch(info.Subject)
	if info.Operation != "merge" || m == nil {
		return w.table.line(info.Subject)
	}
	for _, id := range parents {
		for i := range m {
			if now := w.done[id]; i > 0 && now != "" && m[i] == id[:12] {
				m[i] = now[:12]
			}
		}
	}
	return fmt.Sprintf("merge %s and %s", m[1], m[2])
}

// originals redacts the originals of a state. One that belongs to another snapshot than this is taken over from
// that, or dropped if no snapshot before has it.
func (w *rewriter) originals(ctx context.Context, id string, state *domarkx.State) error {
	for i := range state.Headers {
		h := &state.Headers[i]
		if h.Origin == "" {
			continue
		}
		if now, ok := w.origins[h.Origin]; ok {
			h.Origin = now
			continue
		}
		o, err := w.tx.Origin(ctx, h.Origin)
		if err != nil {
			return err
		}
		here, err := w.tx.Conversation(ctx, id)
		if err != nil {
			return err
		}
		if o.Conversation != here {
			h.Origin = ""
			continue
		}
		if h.Origin, err = w.original(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// original stores the redacted form of an original.
func (w *rewriter) original(ctx context.Context, o *snapshot.Origin) (string, error) {
	data, err := readOriginal(o)
	if err != nil {
		return "", err
	}
	text, _ := w.table.redact(data, true)
	writer, err := w.tx.BeginOrigin(o.Format, bytes.NewReader(text), sha256.Sum256(text))
	if err != nil {
		return "", err
	}
	return writer.Finish(ctx)
}

func readOriginal(o *snapshot.Origin) ([]byte, error) {
	r, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
