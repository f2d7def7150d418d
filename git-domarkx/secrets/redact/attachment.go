package redact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// attachmentForms are the redacted attachments.
type attachmentForms struct {
	digests  map[string]domarkx.Attachment // by the digest of the former content
	attached map[string]attached           // by the former directory
}

// attached holds the redacted attachments of a directory.
type attached struct {
	all     []domarkx.Attachment
	changed bool
}

// attachments returns the redacted attachments of a snapshot. Records of files refer to the redacted files.
func (w *rewriter) attachments(ctx context.Context, snapshot string) (attached, error) {
	if w.table.IsEmpty() {
		return attached{}, nil
	}
	directory, err := w.tx.AttachmentsID(ctx, snapshot)
	if err != nil || directory == "" {
		return attached{}, err
	}
	return once(w.attached, directory, func() (attached, error) { return w.redactAttachments(ctx, snapshot) })
}

func (w *rewriter) redactAttachments(ctx context.Context, snapshot string) (attached, error) {
	var done attached
	old, err := w.tx.AttachmentsOf(ctx, snapshot)
	if err != nil {
		return done, err
	}
	add := func(a, now domarkx.Attachment) {
		w.digests[a.SHA256] = now
		done.all, done.changed = append(done.all, now), done.changed || now.SHA256 != a.SHA256
	}
	var records []domarkx.Attachment
	for _, a := range old {
		if now, ok := w.digests[a.SHA256]; ok {
			add(a, now)
			continue
		}
		now := a
		data, err := w.tx.Read(ctx, a.Blob)
		if err == nil {
			if _, ok := codec.DecodeFileRecord(data); ok {
				records = append(records, a)
				continue
			}
			now, err = w.attachment(ctx, a, data)
		}
		if err != nil {
			return done, fmt.Errorf("attachment %s: %w", a.SHA256, err)
		}
		add(a, now)
	}
	for len(records) > 0 { // rewrite a record only after the records that it replaces
		left := records[:0:0]
		for _, a := range records {
			now, ok, err := w.record(ctx, a, records)
			if err != nil {
				return done, err
			}
			if !ok {
				left = append(left, a)
				continue
			}
			add(a, now)
		}
		if len(left) == len(records) { // records that replace each other exist only in a forged repository
			done.all = append(done.all, left...)
			break
		}
		records = left
	}
	return done, nil
}

// attachment redacts an attachment that is not a record.
func (w *rewriter) attachment(ctx context.Context, a domarkx.Attachment, data []byte) (domarkx.Attachment, error) {
	if !secrets.IsText(data) {
		if w.drop[a.SHA256] {
			return w.storeAttachment(ctx, a.SHA256, []byte(dropped))
		}
		if rule := w.ruleOf(a.Blob, data); rule != "" {
			w.stuck = append(w.stuck, Stuck{Where: "attachment " + a.SHA256, Drop: a.SHA256, Rule: rule})
		}
		return a, nil
	}
	text, changed := w.table.Redact(data, true)
	if !changed {
		return a, nil
	}
	return w.storeAttachment(ctx, a.SHA256, text)
}

// storeAttachment stores the replacement of the attachment with the digest old. From then on, the
// digest is also replaced in messages.
func (w *rewriter) storeAttachment(ctx context.Context, old string, data []byte) (domarkx.Attachment, error) {
	blob, digest, err := w.tx.StoreAttachment(ctx, strings.NewReader(string(data)))
	if err != nil {
		return domarkx.Attachment{}, err
	}
	w.table.Replace(old, digest)
	return domarkx.Attachment{SHA256: digest, Blob: blob}, nil
}

// record rewrites the record of a file. ok is false as long as a record that it replaces is in
// waiting.
func (w *rewriter) record(ctx context.Context, a domarkx.Attachment, waiting []domarkx.Attachment) (domarkx.Attachment, bool, error) {
	data, err := w.tx.Read(ctx, a.Blob)
	if err != nil {
		return a, false, err
	}
	r, _ := codec.DecodeFileRecord(data)
	for i, digest := range r.Replaces {
		if now, ok := w.digests[digest]; ok {
			r.Replaces[i] = now.SHA256
		} else if digest != a.SHA256 && slices.ContainsFunc(waiting, func(b domarkx.Attachment) bool { return b.SHA256 == digest }) {
			return a, false, nil
		}
	}
	slices.Sort(r.Replaces)
	r.Replaces = slices.Compact(r.Replaces)
	if now, ok := w.digests[r.Content]; ok {
		r.Content = now.SHA256
	}
	path, _ := w.table.Redact([]byte(r.Path), false)
	r.Path = string(path)
	next := r.Encode()
	if string(next) == string(data) {
		return a, true, nil
	}
	now, err := w.storeAttachment(ctx, a.SHA256, next)
	return now, true, err
}

// dropped is the content of attachments that the user drops.
const dropped = "[REDACTED:dropped]\n"
