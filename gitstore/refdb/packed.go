package refdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// packedRefs is the content of packed-refs: an optional header line, and then records. A record is a line "ID NAME", and for
// an annotated tag a second line "^ID" with the object to which the tag points.
type packedRefs struct {
	file    *os.File // stays open, so that no other file can have its inode number
	records string
	sorted  bool // by the bytes of their names
}

// packed returns the packed references. Git replaces the file and never changes it in place, so it is only read again if it is
// another file.
func (r *Refs) packed() (*packedRefs, error) {
	path := r.path("packed-refs")
	if last := r.lastPacked.Load(); last != nil && last.isAt(path) {
		return last, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &packedRefs{sorted: true}, nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(file)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("reading packed references: %w", err)
	}
	p := &packedRefs{file: file, records: string(data)}
	if header, rest, ok := strings.Cut(p.records, "\n"); ok && strings.HasPrefix(header, "# pack-refs with:") {
		p.records, p.sorted = rest, slices.Contains(strings.Fields(header), "sorted")
	}
	r.lastPacked.Store(p) // whoever still uses the last one has its records; its file closes with it
	return p, nil
}

// isAt reports whether a path still leads to the file.
func (p *packedRefs) isAt(path string) bool {
	now, err := os.Stat(path)
	if err != nil {
		return false
	}
	then, err := p.file.Stat()
	return err == nil && os.SameFile(then, now)
}

func (r *Refs) readPacked(name string) (id string, ok bool, err error) {
	p, err := r.packed()
	if err != nil {
		return "", false, err
	}
	for ref, ok := range p.from(name) {
		switch {
		case !ok:
			return "", false, r.packedCorrupt()
		case ref.Name == name:
			return ref.ID, true, nil
		case p.sorted && ref.Name > name:
			return "", false, nil
		}
	}
	return "", false, nil
}

func (r *Refs) listPacked(prefix string) (refs []Ref, err error) {
	p, err := r.packed()
	if err != nil {
		return nil, err
	}
	for ref, ok := range p.from(prefix) {
		switch {
		case !ok:
			return nil, r.packedCorrupt()
		case strings.HasPrefix(ref.Name, prefix):
			if checkName(ref.Name) == nil {
				if refs == nil { // as many as there can be about, because growing a long list costs more than reading it
					refs = make([]Ref, 0, len(p.records)/(len(ref.ID)+len(ref.Name)+2)+1)
				}
				refs = append(refs, ref)
			}
		case p.sorted && ref.Name > prefix:
			return refs, nil
		}
	}
	if !p.sorted {
		slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	}
	return refs, nil
}

// from yields the records, with false for a damaged one. If they are sorted, it begins with the first one whose name is not less
// than name.
func (p *packedRefs) from(name string) iter.Seq2[Ref, bool] {
	low, high := 0, len(p.records) // the beginnings of lines
	for p.sorted && low < high {
		start := low + strings.LastIndexByte(p.records[low:low+(high-low)/2], '\n') + 1
		for start > low && p.records[start] == '^' { // it belongs to the record before
			start = low + strings.LastIndexByte(p.records[low:start-1], '\n') + 1
		}
		line, _, _ := strings.Cut(p.records[start:high], "\n")
		if ref, _ := parseRecord(line); ref.Name >= name {
			high = start
		} else {
			low = min(start+len(line)+1, high)
		}
	}
	rest := p.records[low:]
	return func(yield func(Ref, bool) bool) {
		for line := range strings.Lines(rest) {
			if line[0] == '^' || line[0] == '#' {
				continue
			}
			line, whole := strings.CutSuffix(line, "\n")
			ref, ok := parseRecord(line)
			if !yield(ref, ok && whole) {
				return
			}
		}
	}
}

// parseRecord parses "ID NAME".
func parseRecord(line string) (Ref, bool) {
	id, name, ok := strings.Cut(line, " ")
	return Ref{Name: name, ID: id}, ok && name != "" && oid.IsHex(id)
}

func (r *Refs) packedCorrupt() error {
	return fmt.Errorf("the file %q is damaged: %w; see git fsck", r.path("packed-refs"), domarkx.ErrCorrupt)
}
