package redact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// attachments compares the attachments of two snapshots. Each attachment that only their side has
// must be a redaction of one of ours. Records of files must refer to the redacted files and records.
func (r *reconciler) attachments(ctx context.Context, a, b string) error {
	if r.accept {
		return nil
	}
	if x, y, err := both(ctx, r.from.AttachmentsID, a, b); err != nil || x == y {
		return err
	}
	ours, theirs, err := both(ctx, r.from.AttachmentsOf, a, b)
	if err != nil {
		return err
	}
	if len(ours) != len(theirs) {
		return fmt.Errorf("%w: the number of attachments of snapshot %.12s", transfer.ErrNotSame, b)
	}
	have := map[string]bool{}
	for _, t := range theirs {
		have[t.SHA256] = true
	}
	m := &attachmentMatch{reconciler: r}
	for _, o := range ours {
		if to := cmp.Or(r.digests[o.SHA256], o.SHA256); have[to] { // the same, or compared in an earlier snapshot
			delete(have, to)
		} else {
			m.changed = append(m.changed, o)
		}
	}
	theirs = slices.DeleteFunc(theirs, func(t domarkx.Attachment) bool { return !have[t.SHA256] })
	left, err := m.pass(ctx, theirs, m.isFile)
	for n := len(left) + 1; err == nil && 0 < len(left) && len(left) < n; { // a record comes after those that it replaces
		n = len(left)
		left, err = m.pass(ctx, left, m.isRecord)
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%w: the attachment %s of snapshot %.12s", transfer.ErrNotSame, left[0].SHA256, b)
	}
	return err
}

// An attachmentMatch finds the attachments of ours that theirs are redactions of.
type attachmentMatch struct {
	*reconciler
	changed []domarkx.Attachment // of ours, without a match yet
}

// pass matches attachments of theirs by a comparison, and returns those without a match.
func (m *attachmentMatch) pass(ctx context.Context, theirs []domarkx.Attachment, is func(ours, theirs []byte) bool) (left []domarkx.Attachment, err error) {
	for _, t := range theirs {
		data, err := m.from.Read(ctx, t.Blob)
		if err != nil {
			return nil, err
		}
		found := slices.IndexFunc(m.changed, func(a domarkx.Attachment) bool {
			var own []byte
			own, err = m.from.Read(ctx, a.Blob)
			return err != nil || is(own, data)
		})
		if err != nil {
			return nil, err
		}
		if found < 0 {
			left = append(left, t)
			continue
		}
		m.next.Replace(m.changed[found].SHA256, t.SHA256)
		m.digests[m.changed[found].SHA256] = t.SHA256
		m.changed = slices.Delete(m.changed, found, found+1)
	}
	return left, nil
}

// isFile reports whether an attachment of theirs is a redaction of one of ours. Neither is a record.
func (m *attachmentMatch) isFile(ours, theirs []byte) bool {
	if _, is := codec.DecodeFileRecord(theirs); is {
		return false
	}
	_, err := m.text(ours, theirs, true)
	return err == nil
}

// isRecord reports whether their record of a file is our record for the redacted file, and replaces what
// ours replaces. The records that ours replaces must have been matched before.
func (m *attachmentMatch) isRecord(ours, theirs []byte) bool {
	own, isOwn := codec.DecodeFileRecord(ours)
	redacted, isRedacted := codec.DecodeFileRecord(theirs)
	if !isOwn || !isRedacted {
		return false
	}
	for i, digest := range own.Replaces {
		if slices.ContainsFunc(m.changed, func(a domarkx.Attachment) bool { return a.SHA256 == digest }) {
			return false
		}
		own.Replaces[i] = cmp.Or(m.digests[digest], digest)
	}
	slices.Sort(own.Replaces)
	path, _, same := placeholder.Join(m.ours, m.theirs, []byte(own.Path), []byte(redacted.Path), false)
	return same && string(path) == redacted.Path && cmp.Or(m.digests[own.Content], own.Content) == redacted.Content &&
		slices.Equal(slices.Compact(own.Replaces), redacted.Replaces)
}
