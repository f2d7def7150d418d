package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
)

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
