package transaction

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A Redactor replaces secrets in additions to redacted sessions.
type Redactor interface {
	// Document returns what redacts additions to the session whose newest snapshot is tip; "" stands for a new session. It
	// is nil if the session was not redacted, unless always is set.
	Document(ctx context.Context, tip string, always bool) (Redaction, error)
}

// A Redaction redacts additions to a session: documents, the files that they name, and messages. A secret that the
// session already has keeps its number. New secrets get the next numbers, in the order in which they are added.
type Redaction interface {
	// Bytes returns a text, JSON or the content of a file without its secrets. It returns binary content unchanged.
	Bytes(ctx context.Context, content []byte) ([]byte, error)
	// Copy writes a document of the given size in bytes to w, without its secrets.
	Copy(ctx context.Context, w io.Writer, document io.ReaderAt, size int64) error
	// Learn compares a document with stored, the redacted form of its beginning, and adopts the numbers of the secrets
	// that stored replaces. It stops where the two differ in anything else.
	Learn(stored, document []byte)
	// Remember stores the numbers of the secrets for later additions to the session. The history is that of its newest
	// snapshot.
	Remember(ctx context.Context, history iter.Seq2[domarkx.Info, error]) error
	// Secrets returns the number of different secrets that were replaced.
	Secrets() int
}

// A Filter replaces the secrets in additions to a session. The zero Filter refuses everything.
type Filter struct {
	made      bool
	redaction Redaction // nil if nothing is replaced
}

// AsIs returns a filter that changes nothing: for an author's own bytes, and for what the history of the session has already. A
// test lists its users (integration/transaction_test.go).
func AsIs() Filter { return Filter{made: true} }

// A sessionFilter is the filter of a session in a transaction.
type sessionFilter struct {
	Filter
	tip string // the newest snapshot before the transaction; "" for a new session
}

// Filter returns the filter for additions to a session, which is the same during the transaction. It replaces secrets if the
// session was redacted. It must be called before the transaction moves the session.
func (tx *Tx) Filter(ctx context.Context, session string) (Filter, error) {
	return tx.filter(ctx, session, false)
}

// FilterAlways is like Filter, but replaces secrets even if the session was not redacted.
func (tx *Tx) FilterAlways(ctx context.Context, session string) (Filter, error) {
	return tx.filter(ctx, session, true)
}

// WithoutSecrets returns v as it would be in a new session that is redacted.
func (tx *Tx) WithoutSecrets(ctx context.Context, v jsonvalue.Value) (jsonvalue.Value, error) {
	redaction, err := tx.by.redactor.Document(ctx, "", true)
	if err != nil {
		return v, err
	}
	return Filter{true, redaction}.Value(ctx, v)
}

func (tx *Tx) filter(ctx context.Context, session string, always bool) (Filter, error) {
	f := tx.filters[session]
	if f != nil && (f.redaction != nil || !always) {
		return f.Filter, nil
	}
	if f == nil {
		tip, err := tx.TipOrNone(ctx, session)
		if err != nil {
			return Filter{}, err
		}
		f = &sessionFilter{tip: tip.ID}
	}
	var err error
	if f.redaction, err = tx.by.redactor.Document(ctx, f.tip, always); err != nil {
		return Filter{}, err
	}
	f.made, tx.filters[session] = true, f
	return f.Filter, nil
}

// remember stores the numbers of the secrets that the filters of the transaction replaced.
func (tx *Tx) remember(ctx context.Context) error {
	for session, f := range tx.filters {
		if f.redaction == nil || f.redaction.Secrets() == 0 {
			continue
		}
		tip, err := tx.Tip(ctx, session)
		if err == nil {
			err = f.redaction.Remember(ctx, tx.Ancestors(ctx, tip.ID))
		}
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			return fmt.Errorf("session %q: recording the numbers of secrets: %w", session, err)
		}
	}
	return nil
}

func (f Filter) check() error {
	if !f.made {
		return errors.New("content to store has no filter for secrets")
	}
	return nil
}

// Redaction returns what replaces the secrets, and nil if nothing is replaced.
func (f Filter) Redaction() Redaction { return f.redaction }

// Bytes returns a text, JSON or the content of a file without secrets.
func (f Filter) Bytes(ctx context.Context, content []byte) ([]byte, error) {
	if err := f.check(); err != nil || f.redaction == nil {
		return content, err
	}
	return f.redaction.Bytes(ctx, content)
}

// String returns text without secrets.
func (f Filter) String(ctx context.Context, text string) (string, error) {
	now, err := f.Bytes(ctx, []byte(text))
	return string(now), err
}

// Value returns v without secrets.
func (f Filter) Value(ctx context.Context, v jsonvalue.Value) (jsonvalue.Value, error) {
	if err := f.check(); err != nil || f.redaction == nil {
		return v, err
	}
	text, err := f.redaction.Bytes(ctx, view.PrettyJSON(v))
	if err != nil {
		return v, err
	}
	now, err := jsonvalue.ParseValue(text)
	if err != nil {
		return v, fmt.Errorf("redacted value: %w", err)
	}
	return now, nil
}

// Message returns msg without secrets.
func (f Filter) Message(ctx context.Context, msg domarkx.Message) (domarkx.Message, error) {
	if err := f.check(); err != nil || f.redaction == nil {
		return msg, err
	}
	v, err := f.Value(ctx, msg.Value())
	if err != nil {
		return msg, err
	}
	now, err := domarkx.ParseMessage(v, "")
	if err != nil {
		return msg, fmt.Errorf("redacted message: %w", err)
	}
	return now, nil
}

// maxFiltered is the size up to which a file is redacted in memory, in bytes.
const maxFiltered = 64 << 20

// StoreAttachment stores the content of an attachment without its secrets. It returns the attachment and its size in bytes. Of a
// redacted session it reads all of the content into memory, unless that is an [*os.File].
func (tx *Tx) StoreAttachment(ctx context.Context, f Filter, content io.Reader) (domarkx.Attachment, int64, error) {
	clean, closeClean, err := f.clean(ctx, content)
	if err != nil {
		return domarkx.Attachment{}, 0, err
	}
	defer closeClean()
	counted := &counter{Reader: clean}
	blob, sum, err := tx.stored.StoreAttachment(ctx, counted)
	return domarkx.Attachment{SHA256: sum, Blob: blob}, counted.n, err
}

// clean returns a reader of content without secrets, and a function that removes its temporary files.
func (f Filter) clean(ctx context.Context, content io.Reader) (io.Reader, func(), error) {
	if err := f.check(); err != nil || f.redaction == nil {
		return content, func() {}, err
	}
	if file, ok := content.(*os.File); ok {
		if info, err := file.Stat(); err != nil {
			return nil, nil, err
		} else if info.Size() > maxFiltered {
			t, err := local.NewTemporary("", func(w io.Writer) error { return f.redaction.Copy(ctx, w, file, info.Size()) })
			if err != nil {
				return nil, nil, fmt.Errorf("replacing secrets: %w", err)
			}
			return t, func() { t.Close() }, nil
		}
	}
	data, err := io.ReadAll(content)
	if err == nil {
		data, err = f.redaction.Bytes(ctx, data)
	}
	return bytes.NewReader(data), func() {}, err
}

// A counter counts the bytes that were read.
type counter struct {
	io.Reader
	n int64
}

// Read reads and counts.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}
