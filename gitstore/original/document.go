// Package original stores the documents of other programs from which snapshots were made, byte for byte, in
// segments that end with a line: documents that grow share all but the last. SPEC.md of package gitstore,
// section 8, specifies the objects.
//
// In a pack, messages are deltas of the segment that they were made from, which makes the pack of 1,000 imported
// sessions two fifths smaller. A segment that mostly repeats an earlier one, as prompts do that an agent writes
// again, is a delta too: 40 of them have 1 % of their size. A realistic transcript of 4 MB with files, edits and
// signatures takes 33 % of its size in a pack: 19 for its bytes, 11 for its messages, 3 for their directories. The
// least that Git's deltas make of these objects is 28 %, and gzip makes 17 % of the file alone. All states of a
// growing transcript together take 5 % of their sizes. "make bench" measures both.
package original

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Document describes a stored original. [Document.Open] reads its bytes.
type Document struct {
	Format string
	Size   int64 // in bytes
	SHA256 [32]byte
	Note   string // identifies the content of the first snapshot that was made from it

	objects  object.Reader
	segments odb.ID
	count    int
}

// Read reads the description of an original, whose tree is named by its hexadecimal id, without its bytes.
func Read(r object.Reader, tree string) (*Document, error) {
	entries, err := readTree(r, tree)
	if err != nil {
		return nil, err
	}
	description, err := r.SmallFile(entries, "original")
	if err != nil {
		return nil, err
	}
	d, err := decodeDocument(description)
	if err != nil {
		return nil, fmt.Errorf("source/original: %w", err)
	}
	note, err := r.SmallFile(entries, "snapshot")
	if err != nil {
		return nil, err
	}
	d.objects, d.Note = r, strings.TrimSuffix(string(note), "\n")
	d.segments, err = object.Directory(entries, "segments")
	return d, err
}

func readTree(r object.Reader, tree string) ([]odb.TreeEntry, error) {
	id, err := odb.ParseID(tree)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return r.Tree(id)
}

// keep returns the tree of an original whose segments are stored. The tree is stored later, with the
// snapshot and its note; without it, it would remain as garbage.
func (d *Document) keep(out *object.Writer) (string, error) {
	id, err := out.Write(odb.Blob, d.encode())
	if err != nil {
		return "", err
	}
	entries := []odb.TreeEntry{{Mode: odb.ModeFile, Name: "original", ID: id}}
	tree, err := odb.EncodeTree(out.Hash(), object.WithDirectory(entries, "segments", d.segments))
	if err != nil {
		return "", err
	}
	return out.Keep(odb.Tree, tree).String(), nil
}

// AddNote stores the tree of an original with a note of the snapshot that was made from it, and returns its
// id. A tree that has a note already stays as it is.
func AddNote(out *object.Writer, tree, note string) (string, error) {
	entries, err := readTree(out.Reader, tree)
	if err != nil || odb.FindEntry(entries, "snapshot").Name != "" {
		return tree, err
	}
	id, err := out.Write(odb.Blob, []byte(note+"\n"))
	if err != nil {
		return "", err
	}
	noted, err := out.WriteTree(append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: "snapshot", ID: id}))
	return noted.String(), err
}

// WithoutNote returns the tree of an original without its note, so that the next snapshot adds its own.
func WithoutNote(out *object.Writer, tree string) (string, error) {
	entries, err := readTree(out.Reader, tree)
	if err != nil {
		return "", err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e odb.TreeEntry) bool { return e.Name == "snapshot" })
	data, err := odb.EncodeTree(out.Hash(), entries)
	if err != nil {
		return "", err
	}
	return out.Keep(odb.Tree, data).String(), nil
}

// encode returns the content of the file original.
func (d *Document) encode() []byte {
	return fmt.Appendf(nil, "format %s\nsize %d\nsegments %d\nsha256 %x\n", d.Format, d.Size, d.count, d.SHA256)
}

// decodeDocument decodes the file original, and accepts only its canonical form.
func decodeDocument(data []byte) (*Document, error) {
	var d Document
	var digest []byte
	if n, err := fmt.Sscanf(string(data), "format %s\nsize %d\nsegments %d\nsha256 %x\n", &d.Format, &d.Size, &d.count, &digest); err != nil || n != 4 {
		return nil, fmt.Errorf("%w: expected lines with format, size, segments and sha256", domarkx.ErrCorrupt)
	}
	copy(d.SHA256[:], digest)
	if !bytes.Equal(d.encode(), data) || d.Size < 0 || d.count < 0 || !isFormatName(d.Format) {
		return nil, fmt.Errorf("%w: it is not in canonical form", domarkx.ErrCorrupt)
	}
	return &d, nil
}

func isFormatName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func checkFormat(s string) error {
	if !isFormatName(s) {
		return fmt.Errorf("format name %q: %w", s, domarkx.ErrInvalid)
	}
	return nil
}
