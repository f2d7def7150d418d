package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// An Origin is a foreign document from which a snapshot was made.
type Origin struct {
	Format       string
	Size         int64
	SHA256       [32]byte
	Conversation string // result of [Reader.Conversation] for the snapshot that was made from it

	reader   Reader
	segments odb.ID
	count    int
}

// originTree stores the description of an original whose segments are stored, and returns its tree.
func (b *Builder) originTree(o *Origin) (string, error) {
	id, err := b.keep(odb.Blob, o.encode())
	if err != nil {
		return "", err
	}
	entries := []odb.TreeEntry{{Mode: odb.ModeFile, Name: "original", ID: id}}
	tree, err := odb.EncodeTree(withDirectory(entries, "segments", o.segments))
	if err != nil {
		return "", err
	}
	source := odb.Sum(odb.Tree, tree)
	b.fresh[source] = freshObject{odb.Tree, tree} // stored later with the snapshot; an incomplete tree would remain as garbage
	return source.String(), nil
}

// noteSnapshot adds the snapshot to the tree of an original, unless it has one already.
func (b *Builder) noteSnapshot(h *domarkx.HeaderEntry, conversation string) error {
	if h.Origin == "" {
		return nil
	}
	id, err := odb.ParseID(h.Origin)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	entries, err := b.Reader.tree(id)
	if err != nil || odb.FindEntry(entries, "snapshot").Name != "" {
		return err
	}
	note, err := b.keep(odb.Blob, []byte(conversation+"\n"))
	if err != nil {
		return err
	}
	tree, err := b.makeTree(append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: "snapshot", ID: note}))
	if err == nil {
		h.Origin = tree.String()
	}
	return err
}

// RenoteOrigin returns the tree of an original without the snapshot that was made from it, so that the next
// commit notes its own. It is for a snapshot that has the document of its parent and other links.
func (b *Builder) RenoteOrigin(tree string) (string, error) {
	id, err := odb.ParseID(tree)
	if err != nil {
		return "", fmt.Errorf("source: %w", err)
	}
	entries, err := b.tree(id)
	if err != nil {
		return "", err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e odb.TreeEntry) bool { return e.Name == "snapshot" })
	data, err := odb.EncodeTree(entries)
	if err != nil {
		return "", err
	}
	without := odb.Sum(odb.Tree, data)
	b.fresh[without] = freshObject{odb.Tree, data} // stored later with the snapshot
	return without.String(), nil
}

// Conversation returns an identifier of the content of a snapshot's document: its messages and the
// revision of its header. Snapshots with equal content have the same identifier, even if their
// snapshot_id differs.
func (r Reader) Conversation(_ context.Context, id string) (string, error) {
	root, _, err := r.root(id)
	if err != nil {
		return "", err
	}
	conversation, err := directory(root, "conversation")
	if err != nil {
		return "", err
	}
	headers, err := r.headers(root)
	if err != nil {
		return "", err
	}
	return conversationName(conversation, headers[0].Rev), nil
}

func conversationName(conversation odb.ID, header domarkx.Rev) string {
	if conversation.IsZero() {
		return "- " + header.String()
	}
	return conversation.String() + " " + header.String()
}

// Origin reads the description of a foreign original, without its bytes.
func (r Reader) Origin(_ context.Context, tree string) (*Origin, error) {
	id, err := odb.ParseID(tree)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	entries, err := r.tree(id)
	if err != nil {
		return nil, err
	}
	original, err := r.small(entries, "original")
	if err != nil {
		return nil, err
	}
	o, err := decodeOriginal(original)
	if err != nil {
		return nil, fmt.Errorf("source/original: %w", err)
	}
	note, err := r.small(entries, "snapshot")
	if err != nil {
		return nil, err
	}
	o.reader, o.Conversation = r, strings.TrimSuffix(string(note), "\n")
	o.segments, err = directory(entries, "segments")
	return o, err
}

// encode returns the content of the file original.
func (o *Origin) encode() []byte {
	return fmt.Appendf(nil, "format %s\nsize %d\nsegments %d\nsha256 %x\n", o.Format, o.Size, o.count, o.SHA256)
}

// decodeOriginal decodes the file original, and accepts only its canonical form.
func decodeOriginal(data []byte) (*Origin, error) {
	var o Origin
	var digest []byte
	if n, err := fmt.Sscanf(string(data), "format %s\nsize %d\nsegments %d\nsha256 %x\n", &o.Format, &o.Size, &o.count, &digest); err != nil || n != 4 {
		return nil, fmt.Errorf("%w: expected lines with format, size, segments and sha256", domarkx.ErrCorrupt)
	}
	copy(o.SHA256[:], digest)
	if !bytes.Equal(o.encode(), data) || o.Size < 0 || o.count < 0 || !isFormatName(o.Format) {
		return nil, fmt.Errorf("%w: it is not in canonical form", domarkx.ErrCorrupt)
	}
	return &o, nil
}

func isFormatName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
