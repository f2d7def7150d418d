package codec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// bucketOf returns the name of a tombstone's file in deleted/.
func bucketOf(id domarkx.ID) string { return fmt.Sprintf("%02x", id[len(id)-1]) }

// Buckets distributes tombstones, which are sorted by id, to their files.
func Buckets(dead []domarkx.Tombstone) (map[string][]domarkx.Tombstone, error) {
	files := map[string][]domarkx.Tombstone{}
	for i, d := range dead {
		if i > 0 && bytes.Compare(dead[i-1].ID[:], d.ID[:]) >= 0 {
			return nil, fmt.Errorf("removed message %s: %w, expected ascending ids", d.ID, domarkx.ErrInvalid)
		}
		name := bucketOf(d.ID)
		files[name] = append(files[name], d)
	}
	return files, nil
}

// EncodeTombstones returns the content of a file in deleted/.
func EncodeTombstones(dead []domarkx.Tombstone) []byte {
	var b bytes.Buffer
	for _, d := range dead {
		past := "-"
		if len(d.Past) > 0 {
			past = joinRevs(d.Past)
		}
		b.WriteString(d.ID.String() + " " + d.After.String() + " " + past + "\n")
	}
	return b.Bytes()
}

// DecodeTombstones decodes the file of that name, and accepts only its canonical form.
func DecodeTombstones(name string, data []byte) ([]domarkx.Tombstone, error) {
	lines, err := splitLines(data)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%w: empty, expected a line", domarkx.ErrCorrupt)
	}
	dead := make([]domarkx.Tombstone, len(lines))
	for i, line := range lines {
		if dead[i], err = decodeTombstone(line); err != nil {
			return nil, fmt.Errorf("line %d: %w: %v", i+1, domarkx.ErrCorrupt, err)
		}
		if bucketOf(dead[i].ID) != name || i > 0 && bytes.Compare(dead[i-1].ID[:], dead[i].ID[:]) >= 0 {
			return nil, fmt.Errorf("line %d: %w: out of place", i+1, domarkx.ErrCorrupt)
		}
	}
	if !bytes.Equal(EncodeTombstones(dead), data) {
		return nil, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, errLine)
	}
	return dead, nil
}

func decodeTombstone(line string) (d domarkx.Tombstone, err error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return d, errLine
	}
	if d.ID, err = domarkx.ParseID(fields[0]); err != nil {
		return d, err
	}
	if d.After, err = domarkx.ParseID(fields[1]); err != nil {
		return d, err
	}
	if fields[2] != "-" {
		d.Past, err = splitRevs(fields[2])
	}
	return d, err
}

// SortTombstones sorts tombstones by id.
func SortTombstones(dead []domarkx.Tombstone) {
	slices.SortFunc(dead, func(a, b domarkx.Tombstone) int { return bytes.Compare(a.ID[:], b.ID[:]) })
}
