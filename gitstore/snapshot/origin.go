package snapshot

import (
	"cmp"
	"context"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/original"
)

// Origin returns the description of the foreign document from which a session was imported, without its bytes. Its note
// is what [Reader.Conversation] returned for the snapshot that was made from the document.
func (r Reader) Origin(_ context.Context, tree string) (*original.Document, error) {
	return original.Read(r.objects, tree)
}

// BeginOrigin starts to store a foreign document, whose digest is known.
func (b *Builder) BeginOrigin(format string, content io.Reader, sha256 [32]byte) (*original.Writer, error) {
	return original.NewWriter(b.out, format, content, sha256)
}

// GrowOrigin stores a foreign document that is longer than the one in a tree and begins with it. It returns the tree of
// the new one. See [original.Grow].
func (b *Builder) GrowOrigin(ctx context.Context, tree string, more []byte, sha256 [32]byte) (string, error) {
	return original.Grow(ctx, b.out, tree, more, sha256)
}

// NewOriginGrower starts to store a foreign document several times while it grows.
func (b *Builder) NewOriginGrower(format string) (*original.Grower, error) {
	return original.NewGrower(b.out, format)
}

// RenoteOrigin returns the tree of an original without the note, so that the next commit gets a note of its own. It is
// for a snapshot with the document of its parent but with other links.
func (b *Builder) RenoteOrigin(tree string) (string, error) { return original.WithoutNote(b.out, tree) }

// PartOrigin returns the tree of an original from which no snapshot is made alone, because it has only a part of the session.
func (b *Builder) PartOrigin(tree string) (string, error) {
	return original.AddNote(b.out, tree, "- 0000000000000000")
}

// noteSnapshot adds a note to the tree of an original, unless it has one: an identifier of the snapshot that was made
// from it.
func (b *Builder) noteSnapshot(h *domarkx.HeaderEntry, conversation string) (err error) {
	if h.Origin != "" {
		h.Origin, err = original.AddNote(b.out, h.Origin, conversation)
	}
	return err
}

// Conversation returns an identifier of what a snapshot's document contains: its messages and the revision of its
// header. Snapshots with the same content have the same identifier, even if their documents have different
// snapshot_ids.
func (r Reader) Conversation(_ context.Context, id string) (string, error) {
	return part(r, id, func(root []odb.TreeEntry) (string, error) {
		conversation, err := object.Directory(root, "conversation")
		if err != nil {
			return "", err
		}
		headers, err := r.headers(root)
		if err != nil {
			return "", err
		}
		return conversationName(conversation, headers[0].Rev), nil
	})
}

func conversationName(conversation odb.ID, header domarkx.Rev) string {
	return cmp.Or(name(conversation), "-") + " " + header.String()
}
