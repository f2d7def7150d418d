// Package gitobjects reads the objects in the files in which Git stores them: loose objects, packs and bundles. It
// recognizes these files by their content and needs no other file, neither the index of a pack nor the repository, so
// that it also reads those that Git would not find. Ids may be SHA-1 or SHA-256.
//
// The files can come from anybody. Memory and time are bounded, and what exceeds the bounds or is damaged is an error:
// a file that was read without one has no other objects.
package gitobjects

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/oid"

	"github.com/klauspost/compress/zlib"
)

// Limits of reading.
const (
	maxObject  = 128 << 20 // size in bytes of an object that is a delta or the base of one
	maxEntries = 4 << 20   // number of objects in a pack
	maxChain   = 4095      // length of a chain of deltas, as in Git
	maxHeld    = 256 << 20 // bytes of the bases of deltas that are in memory
)

// An Object is an object, or another part of a file that can hold text.
type Object struct {
	Kind    string // commit, tree, blob, tag; delta if the base is elsewhere; header and rest of a file
	ID      string // "" if it is not known
	Content []byte // valid until the function that gets it returns; of a tree, the names in it as lines; of a delta, the bytes that it inserts
}

// String returns the kind and the shortened id.
func (o Object) String() string {
	if o.ID == "" {
		return o.Kind
	}
	return fmt.Sprintf("%s %.12s", o.Kind, o.ID)
}

// Recognized reports whether a file that begins with head stores Git objects.
func Recognized(head []byte) bool {
	if _, ok := looseHeader(head); ok {
		return true
	}
	_, err := packfile.Header(head)
	return err == nil || isBundle(head)
}

func isBundle(head []byte) bool {
	return bytes.HasPrefix(head, []byte("# v2 git bundle\n")) || bytes.HasPrefix(head, []byte("# v3 git bundle\n"))
}

// Read calls found for each object in a file. Whatever it decompresses is subtracted from left, and when that is used
// up, it ends. The error matches [domarkx.ErrCorrupt] or [domarkx.ErrUnsupported] if not everything could be read; what
// could be was found nevertheless.
func Read(content []byte, left *int64, found func(Object)) error {
	if _, ok := looseHeader(content); ok {
		return readLoose(content, left, found)
	}
	if isBundle(content) {
		head := len(content)
		if i := bytes.Index(content, []byte("\n\n")); i >= 0 {
			head = i + 2
		}
		found(Object{Kind: "header", Content: content[:head]}) // refs and subjects of commits
		content = content[head:]
	}
	return readPack(content, left, found)
}

// maxLooseHeader is the length in bytes of the longest type, size and NUL before the content of an object.
const maxLooseHeader = 32

// looseHeader returns the header of a loose object without the NUL.
func looseHeader(content []byte) (header string, ok bool) {
	if len(content) < 2 || content[0]&15 != 8 || (uint(content[0])<<8|uint(content[1]))%31 != 0 {
		return "", false
	}
	r, err := zlib.NewReader(bytes.NewReader(content[:min(len(content), 1<<10)]))
	if err != nil {
		return "", false
	}
	defer r.Close()
	var data [maxLooseHeader]byte
	n, _ := io.ReadFull(r, data[:]) // the head may be truncated
	text, _, ok := bytes.Cut(data[:n], []byte{0})
	kind, size, spaced := bytes.Cut(text, []byte{' '})
	if !ok || !spaced || !slices.Contains([]string{"commit", "tree", "blob", "tag"}, string(kind)) {
		return "", false
	}
	_, err = strconv.ParseUint(string(size), 10, 63)
	return string(text), err == nil
}

func readLoose(content []byte, left *int64, found func(Object)) error {
	src := bytes.NewReader(content)
	r, err := zlib.NewReader(src)
	if err != nil {
		return fmt.Errorf("loose object: %w: %w", domarkx.ErrCorrupt, err)
	}
	defer r.Close()
	header, _ := looseHeader(content)
	kind, declared, _ := strings.Cut(header, " ")
	if _, err := io.CopyN(io.Discard, r, int64(len(header)+1)); err != nil {
		return fmt.Errorf("loose object: %w: %w", domarkx.ErrCorrupt, err)
	}
	size, err := readParts(r, kind, left, found)
	if err != nil {
		return fmt.Errorf("loose object: %w", err)
	}
	if declared != strconv.FormatInt(size, 10) {
		return fmt.Errorf("loose object: %w: its size is not the declared one", domarkx.ErrCorrupt)
	}
	readRest(content[len(content)-src.Len():], found)
	return nil
}

// Sizes in bytes of the parts of an object that is read as a stream. Two parts overlap, so that one of them has a
// secret whole.
const (
	partSize = 8 << 20
	overlap  = 128 << 10
)

// readParts reports an object of any size in parts, and returns its size.
func readParts(r io.Reader, kind string, left *int64, found func(Object)) (size int64, err error) {
	var part []byte
	for first := true; ; first = false {
		kept := len(part)
		data, err := io.ReadAll(io.LimitReader(r, min(partSize, *left)))
		part = append(part, data...)
		size += int64(len(data))
		*left -= int64(len(data))
		end := len(data) < partSize
		if len(part) > kept || first {
			content := part
			if first && end {
				content = searchable(kind, part)
			}
			found(Object{Kind: kind, Content: content})
		}
		switch {
		case err != nil:
			return size, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
		case *left <= 0:
			return size, errTotal
		case end:
			return size, nil
		}
		part = append(part[:0], part[max(0, len(part)-overlap):]...)
	}
}

var errTotal = fmt.Errorf("%w: its content is too large in total", domarkx.ErrUnsupported)

// readRest reports what follows the end of what Git reads.
func readRest(rest []byte, found func(Object)) {
	if len(rest) > 0 {
		found(Object{Kind: "rest", Content: rest})
	}
}

// searchable returns the content of an object, for a tree only the names.
func searchable(kind string, content []byte) []byte {
	if kind != odb.Tree.String() {
		return content
	}
	for _, by := range []oid.Hash{oid.SHA1, oid.SHA256} {
		if names, ok := treeNames(content, by.Size()); ok {
			return names
		}
	}
	return content
}

// treeNames returns the names in a tree as lines. ok is false if the content is not a tree with ids of that size.
func treeNames(content []byte, idSize int) (names []byte, ok bool) {
	for len(content) > 0 {
		entry, rest, ok := bytes.Cut(content, []byte{0})
		if !ok || len(rest) < idSize {
			return nil, false
		}
		mode, name, ok := bytes.Cut(entry, []byte{' '})
		if !ok || len(mode) > 6 {
			return nil, false
		}
		names = append(append(names, name...), '\n')
		content = rest[idSize:]
	}
	return names, true
}
