package redact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// attachments compares the attachments of two snapshots. Each attachment that only their side has
// must be a redaction of one of ours. Records of files must refer to the redacted files.
func (r *reconciler) attachments(ctx context.Context, a, b string) error {
	ours, err := r.from.AttachmentsOf(ctx, a)
	if err != nil {
		return err
	}
	theirs, err := r.from.AttachmentsOf(ctx, b)
	if err != nil {
		return err
	}
	if r.accept {
		return nil
	}
	if len(ours) != len(theirs) {
		return fmt.Errorf("%w: the number of attachments of snapshot %.12s", ErrNotSame, b)
	}
	have := map[string]bool{}
	for _, t := range theirs {
		have[t.SHA256] = true
	}
	var changed []domarkx.Attachment
	for _, o := range ours {
		if have[o.SHA256] {
			delete(have, o.SHA256)
		} else {
			changed = append(changed, o)
		}
	}
	for _, records := range []bool{false, true} { // records refer to the other attachments
		for _, t := range theirs {
			data, err := r.from.Read(ctx, t.Blob)
			if err != nil {
				return err
			}
			theirs, isRecord := codec.DecodeFileRecord(data)
			if !have[t.SHA256] || isRecord != records {
				continue
			}
			found := -1
			for i, o := range changed {
				err := r.blob(ctx, o.Blob, t.Blob, true)
				if err != nil && !errors.Is(err, ErrNotSame) {
					return err
				}
				if err == nil || isRecord && r.record(ctx, o, theirs) {
					found = i
					break
				}
			}
			if found < 0 {
				return fmt.Errorf("%w: the attachment %s of snapshot %.12s", ErrNotSame, t.SHA256, b)
			}
			r.next.replace(changed[found].SHA256, t.SHA256)
			r.digests[changed[found].SHA256] = t.SHA256
			changed = slices.Delete(changed, found, found+1)
		}
	}
	return nil
}

// record reports whether their record of a file is our record o for the redacted file.
func (r *reconciler) record(ctx context.Context, o domarkx.Attachment, theirs codec.FileRecord) bool {
	data, err := r.from.Read(ctx, o.Blob)
	if err != nil {
		return false
	}
	ours, ok := codec.DecodeFileRecord(data)
	digest := func(d string) string { return cmp.Or(r.digests[d], d) }
	path, _, same := join(r.ours, r.theirs, []byte(ours.Path), []byte(theirs.Path), false)
	return ok && same && string(path) == theirs.Path && digest(ours.Content) == theirs.Content && len(ours.Replaces) == len(theirs.Replaces)
}
