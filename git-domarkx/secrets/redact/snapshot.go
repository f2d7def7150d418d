package redact

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
	"github.com/domarkx/domarkx/plugins"
)

// A rewriter creates the redacted commits of a history. It must be used within one update, and for
// parents before their children. Of each kind of content it knows the redacted forms so far.
type rewriter struct {
	tx     *gitstore.Tx
	table  *placeholder.Table
	drop   map[string]bool // resources and attachments to drop
	types  *plugins.WorkspaceManager
	joined *reconciler
	stubs  map[string]*domarkx.Expiry // key of a version that has no files in the new history → why

	done  map[string]string // commit → redacted form
	stuck []Stuck
	rules map[string]string // file that cannot be edited → rule that found a secret in it, or ""
	conversationForms
	originalForms
	attachmentForms
	versionForms
}

func newRewriter(tx *gitstore.Tx, t *placeholder.Table, drop []string, types *plugins.WorkspaceManager) *rewriter {
	w := &rewriter{tx: tx, table: t, types: types, drop: map[string]bool{}, done: map[string]string{}, rules: map[string]string{},
		conversationForms: conversationForms{pieces: map[string]*written{}, leaves: snapshot.Rewritings{}, spans: map[string]string{},
			tops: map[headerKey]domarkx.HeaderEntry{}, previews: map[string]string{}, trees: map[string]string{}, included: map[string]string{}},
		originalForms:   originalForms{origins: map[string]string{}, sources: map[string]string{}},
		attachmentForms: attachmentForms{digests: map[string]domarkx.Attachment{}, attached: map[string]attached{}},
		versionForms:    versionForms{files: map[[2]string]string{}, directories: map[string]string{}, names: map[string]bool{}, clean: map[string]string{}}}
	for _, name := range drop {
		w.drop[name] = true
	}
	return w
}

// parents returns the redacted forms of parents, and whether any parent changed.
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

// snapshot stores the redacted form of a snapshot, whose parents must be done. If neither the
// snapshot nor an ancestor changes, the snapshot is its own redacted form.
func (w *rewriter) snapshot(ctx context.Context, head snapshot.CommitHead) error {
	info := head.Info
	parents, changed := w.parents(head.Parents)
	attachments, err := w.attachments(ctx, info.ID)
	if err != nil {
		return err
	}
	old, err := w.tx.Header(ctx, info.ID)
	if err != nil {
		return err
	}
	headers, err := w.headers(ctx, old)
	if err != nil {
		return err
	}
	conversation, messages, err := w.tx.RewriteConversation(ctx, info.ID, w.leaves, w.leafEdit(ctx, old[0].Includes))
	if err != nil {
		return err
	}
	same := slices.EqualFunc(old, headers, func(a, b domarkx.HeaderEntry) bool { return headerKeyOf(a) == headerKeyOf(b) })
	subject := w.subject(info, head.Parents)
	dirty, err := w.redactOriginals(ctx, old)
	if err != nil {
		return err
	}
	if !changed && !attachments.changed && !dirty && !messages.Changed && same && subject == info.Subject {
		for _, h := range old {
			w.origins[h.Origin] = h.Origin
		}
		w.done[info.ID] = info.ID
		return nil
	}
	state := &domarkx.State{Headers: headers}
	if err := w.originals(ctx, info.ID, state); err != nil {
		return err
	}
	commit := domarkx.Commit{Parents: parents, State: state, Conversation: conversation, Operation: info.Operation, Subject: subject, Bytes: info.Bytes + messages.Grown,
		Author: head.Author, Committer: head.Committer, Replacement: w.replacement(info.ID, info.Replacement)}
	if attachments.changed {
		commit.Kept = attachments.all
	}
	odd := messages.Odd
	if !same {
		commit.Bytes += headers[0].Layout.Size - old[0].Layout.Size
		odd = odd || len(old) > 1 || old[0].Includes != "" || !sameShape(old[0].Layout, headers[0].Layout)
	}
	if odd {
		if commit.Bytes, err = w.size(ctx, info.ID, headers); err != nil {
			return err
		}
	}
	if w.table.IsEmpty() {
		commit.Preview = info.Preview
	} else if conversation.Messages > 0 {
		if commit.Preview, err = w.preview(ctx, messages.First); err != nil {
			return err
		}
	}
	now, err := w.tx.Rewrite(ctx, info.ID, commit)
	if err != nil {
		return err
	}
	for i, h := range state.Headers { // the commit noted its id in the original document
		if before := old[i].Origin; before != "" {
			w.origins[before] = h.Origin
		}
	}
	w.done[info.ID] = now.ID
	return nil
}

// replacement says what the new form of a commit replaces. The arguments are those of the commit so far.
func (w *rewriter) replacement(id string, r domarkx.Replacement) domarkx.Replacement {
	return domarkx.Replacement{Replaces: r.Key(id), SameTexts: w.table.IsEmpty() && !r.IsRedacted()}
}

// store stores content and keeps it in memory, because an update cannot read everything that it has
// stored.
func (w *rewriter) store(ctx context.Context, data []byte) (domarkx.Blob, error) {
	blob, _, err := w.tx.StoreAttachment(ctx, bytes.NewReader(data))
	blob.Data = view.NotNil(data)
	return blob, err
}

var mergeSubject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^merge ([0-9a-f]{12}) and ([0-9a-f]{12})$`) })

// subject returns the redacted subject of a snapshot. The subject of a merge contains the ids of
// its parents.
func (w *rewriter) subject(info domarkx.Info, parents []string) string {
	m := mergeSubject().FindStringSubmatch(info.Subject)
	if info.Operation != "merge" || m == nil {
		return w.table.Line(info.Subject)
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
