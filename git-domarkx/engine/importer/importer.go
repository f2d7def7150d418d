package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// isBadDocument reports whether an error concerns only one document, so that the import can continue with the others.
func isBadDocument(err error) bool {
	_, isSyntax := errors.AsType[*syntax.Error](err)
	_, isDocument := errors.AsType[*documentError](err)
	return isSyntax || isDocument || errors.Is(err, domarkx.ErrInvalid) || errors.Is(err, domarkx.ErrExists) || errors.Is(err, domarkx.ErrUnsupported)
}

// An importer imports the documents of a request in one update.
type importer struct {
	options
	sessions
	current
	manager *Manager
	tx      *transaction.Tx
	change  engine.Change
	sources *sources.Record
	later   []found // documents that are left to the next update
	result  Result
}

// The options of a request apply to each of its documents.
type options struct {
	Request
	links *linkRequest // nil if no stated versions are linked
}

// The sessions are those of the repository, with what this update has changed in them.
type sessions struct {
	here   map[string]domarkx.Info
	made   map[string]bool   // sessions that this request created
	before map[string]string // tips that sessions had before this update
	fresh  map[string]bool   // snapshots that this update created, which cannot be read yet
	last   *domarkx.State    // content of the newest of these snapshots; nil if it is large
	lastID string
}

// moved records the new tip of a session.
func (s *sessions) moved(name string, tip domarkx.Info) {
	if _, ok := s.before[name]; !ok {
		s.before[name] = s.here[name].ID
	}
	s.here[name] = tip
}

// The current is what an importer has stored and learned of its current document.
type current struct {
	shared     *edit.SharedMessages    // links for the document
	forks      []engine.SaveResult     // results of the branches
	learned    []func()                // functions that record the document, called when all of it is stored
	stored     string                  // tree of the original, once that is stored
	namedFiles map[string]sources.File // the last known states of the files that the messages name
	files      *fileSet                // files to import with the document; nil for none
}

// one imports one document and adds the outcome to the result.
func (imp *importer) one(ctx context.Context, c *collector, f found) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	imp.current = current{shared: &edit.SharedMessages{Known: map[uint64]*edit.SharedMessage{}}}
	d := &reader{collector: c, in: input{found: f}}
	defer d.close()
	r, err := imp.recognise(ctx, d, d.in, nil)
	if err == nil && r.is == isSecret {
		with := r.filter.Redaction()
		before := with.Secrets()
		if err = imp.redact(ctx, d, r); err == nil {
			defer func() { imp.result.Redacted += with.Secrets() - before }()
			r, err = imp.recognise(ctx, d, d.in, nil)
		}
	}
	var saved engine.SaveResult
	left := r.is
	if err == nil && left != tooEarly {
		saved, left, err = imp.store(ctx, d, r)
	}
	switch {
	case isBadDocument(err):
		imp.result.Bad = append(imp.result.Bad, err)
	case err != nil:
		return err
	case left == tooEarly:
		f.late = true
		imp.later = append(imp.later, f)
		return nil
	case left == isSecret:
		f.always = true
		imp.later = append(imp.later, f)
	}
	if saved.Name != "" { // if there is an error, only a branch is bad, and the next import tries it again
		for _, of := range append([]engine.SaveResult{saved}, imp.forks...) {
			of.State = nil
			imp.result.Sessions = append(imp.result.Sessions, of)
		}
	}
	return nil
}

// An input is a document to import, or one of its branches.
type input struct {
	found
	*document.Content
	codec    format.Codec
	identity string          // see [format.Identity]; "" if the document has none
	isSame   bool            // whether the session already has this document
	insists  bool            // whether the user named the format
	isPart   bool            // whether another file was imported last as this session
	isFork   bool            // whether it is a branch, and not the document's main conversation
	damage   []*syntax.Error // what could not be read when the document was made
}

// isLarge reports whether importing the document needs much memory: as values several times its size if it is decoded
// in memory, and otherwise for the index of its messages.
func (in *input) isLarge() bool {
	const held, indexed = 2 << 20, 128 << 20
	if in.codec.Open == nil || in.path == "-" {
		return in.Size > held
	}
	return in.Size > indexed
}

// includes reports whether the document may include other files.
func (in *input) includes() (bool, error) {
	if in.codec.Name != string(engine.Markdown) {
		return false, nil
	}
	return in.Contains("[include](")
}

// A reader reads a document on its way through an import.
type reader struct {
	*collector
	in   input // its content is nil until the document is opened
	dir  document.Directory
	next func() (document.Conversation, error, bool) // returns the next conversation
	stop func()
}

// open opens the document.
func (d *reader) open(ctx context.Context) (err error) {
	in, err := d.collector.open(ctx, d.in.found)
	if err != nil {
		return err
	}
	if d.in = in; d.Large != nil && in.isLarge() {
		d.Large()
	}
	return nil
}

// begin reads the bytes of the document once. Its conversations begin with the first one.
func (d *reader) begin(ctx context.Context) error {
	d.end()
	d.dir = document.Directory{Path: filepath.Dir(d.in.path), Digest: sha256.New(), Redact: func(data []byte) ([]byte, error) { return d.in.WithoutSecrets(ctx, data) }}
	include := d.dir.Include
	if d.in.path == "-" {
		include = nil
	}
	d.next, d.stop = iter.Pull2(d.in.Conversations(d.in.codec, d.in.path, include))
	return d.in.ReadThrough(d.dir.Digest, d.in.codec.Images)
}

// sum returns the digest of the document, of what it includes, and of the files that are imported with it.
func (d *reader) sum() string { return hex.EncodeToString(d.dir.Digest.Sum(nil)) }

func (d *reader) end() {
	if d.stop != nil {
		d.stop()
	}
	d.dir.Close()
}

func (d *reader) close() {
	d.end()
	if d.in.Content != nil {
		d.in.Close()
	}
}
