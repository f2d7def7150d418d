package refdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// packedRefs is an open packed-refs file: an optional header line, and then records. A record is a line "ID NAME", and for
// an annotated tag a second line "^ID" with the object to which the tag points. Git replaces the file and never changes it
// in place, so that the content of the open file does not change.
type packedRefs struct {
	file   *os.File
	body   int64 // offset of the first record
	size   int64
	sorted bool // whether records are sorted by the bytes of their names
}

// maxLine is the length in bytes of the longest line. Git could not store a longer name as a file (PATH_MAX).
const maxLine = 8 << 10

// openPacked opens packed-refs. It returns nil if the file does not exist.
func (r *Refs) openPacked() (*packedRefs, error) {
	file, err := os.Open(r.path("packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading packed references: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("reading packed references: %w", err)
	}
	p := &packedRefs{file: file, size: info.Size()}
	var header [256]byte
	n, err := file.ReadAt(header[:], 0)
	if err != nil && err != io.EOF {
		file.Close()
		return nil, fmt.Errorf("reading packed references: %w", err)
	}
	if line, _, ok := bytes.Cut(header[:n], []byte("\n")); ok && bytes.HasPrefix(line, []byte("# pack-refs with:")) {
		p.body = int64(len(line)) + 1
		p.sorted = slices.Contains(strings.Fields(string(line)), "sorted")
	}
	return p, nil
}

func (r *Refs) readPacked(name string) (id string, ok bool, err error) {
	p, err := r.openPacked()
	if p == nil || err != nil {
		return "", false, err
	}
	defer p.file.Close()
	err = p.each(name, func(ref Ref) bool {
		if ref.Name == name {
			id, ok = strings.Clone(ref.ID), true
			return false
		}
		return !p.sorted || ref.Name < name
	})
	return id, ok, err
}

func (r *Refs) listPacked(prefix string) (refs []Ref, err error) {
	p, err := r.openPacked()
	if p == nil || err != nil {
		return nil, err
	}
	defer p.file.Close()
	err = p.each(prefix, func(ref Ref) bool {
		if strings.HasPrefix(ref.Name, prefix) {
			if checkName(ref.Name) == nil {
				if refs == nil { // as many as there can be about, because growing a long list costs more than reading it
					refs = make([]Ref, 0, p.size/int64(len(ref.ID)+len(ref.Name)+2)+1)
				}
				refs = append(refs, ref)
			}
			return true
		}
		return !p.sorted || ref.Name < prefix
	})
	if !p.sorted {
		slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	}
	return refs, err
}

// each calls yield for one record after the other until yield returns false. A record that is kept keeps some dozen kilobytes
// around it. If the file is sorted, it may leave out
// records whose names are less than name.
func (p *packedRefs) each(name string, yield func(Ref) bool) error {
	start := p.body
	if p.sorted {
		var err error
		if start, err = p.find(name); err != nil {
			return err
		}
	}
	buffer := make([]byte, 4*maxLine)
	rest := "" // the beginning of a record
	for {
		n, err := p.file.ReadAt(buffer, start)
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading packed references: %w", err)
		}
		start += int64(n)
		rest += string(buffer[:n]) // the records that are yielded are parts of it
		for line, after, ok := strings.Cut(rest, "\n"); ok; line, after, ok = strings.Cut(rest, "\n") {
			rest = after
			if strings.HasPrefix(line, "^") || strings.HasPrefix(line, "#") {
				continue
			}
			ref, ok := parseRecord(line)
			if !ok {
				return p.corrupt()
			}
			if !yield(ref) {
				return nil
			}
		}
		if len(rest) > maxLine || err == io.EOF && rest != "" {
			return p.corrupt() // an overlong or truncated record
		}
		if err == io.EOF {
			return nil
		}
	}
}

// find returns the offset of a record that is at most some dozen kilobytes before the first record whose name is not less
// than name, by binary search. The file must be sorted.
func (p *packedRefs) find(name string) (int64, error) {
	low, high := p.body, p.size
	var buffer [3 * maxLine]byte
	for high-low > int64(len(buffer)) {
		middle := low + (high-low)/2
		n, err := p.file.ReadAt(buffer[:], middle)
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("reading packed references: %w", err)
		}
		start, ref, ok := firstRecord(buffer[:n])
		switch {
		case !ok:
			return 0, p.corrupt()
		case ref.Name < name:
			low = middle + int64(start)
		default:
			high = middle
		}
	}
	return low, nil
}

// firstRecord returns the first record in a block that begins anywhere in the file, and the record's offset in the block.
func firstRecord(block []byte) (start int, ref Ref, ok bool) {
	for {
		end := bytes.IndexByte(block[start:], '\n')
		if end < 0 {
			return 0, Ref{}, false
		}
		start += end + 1
		rest := block[start:]
		if len(rest) > 0 && rest[0] == '^' {
			continue
		}
		end = bytes.IndexByte(rest, '\n')
		if end < 0 {
			return 0, Ref{}, false
		}
		ref, ok = parseRecord(string(rest[:end]))
		return start, ref, ok
	}
}

// parseRecord parses "ID NAME".
func parseRecord(line string) (Ref, bool) {
	id, name, ok := strings.Cut(line, " ")
	return Ref{Name: name, ID: id}, ok && name != "" && oid.IsHex(id)
}

func (p *packedRefs) corrupt() error {
	return fmt.Errorf("the file %q is damaged: %w; see git fsck", p.file.Name(), domarkx.ErrCorrupt)
}
