package dirversion

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// A record is the entry of a file in the stat cache.
type record struct {
	name   string
	stat   beneath.Stat
	racy   bool            // the file may have changed without changing its stat
	id     string          // of the content of a regular file
	target string          // of a symbolic link
	xattrs []domarkx.Xattr // of regular files and directories
}

const (
	racyBit   = 0x80
	xattrsBit = 0x40
)

// append encodes a record: fields as varints, strings with their lengths.
func (r *record) append(b []byte) []byte {
	b = derived.AppendText(b, r.name)
	flags := byte(r.stat.Kind)
	if r.racy {
		flags |= racyBit
	}
	if len(r.xattrs) > 0 {
		flags |= xattrsBit
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(r.stat.Mode))
	b = binary.AppendUvarint(b, r.stat.Ino)
	b = binary.AppendVarint(b, r.stat.Mtime)
	b = binary.AppendVarint(b, r.stat.Ctime-r.stat.Mtime)
	switch r.stat.Kind {
	case domarkx.Regular:
		b = binary.AppendUvarint(b, uint64(r.stat.Size))
		b = derived.AppendText(b, r.id)
	case domarkx.Symlink:
		b = binary.AppendUvarint(b, uint64(r.stat.Size))
		b = derived.AppendText(b, r.target)
	case domarkx.CharDevice, domarkx.BlockDevice:
		b = binary.AppendUvarint(b, uint64(r.stat.Major))
		b = binary.AppendUvarint(b, uint64(r.stat.Minor))
	}
	if len(r.xattrs) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(r.xattrs)))
	for _, a := range r.xattrs {
		b = derived.AppendText(b, a.Name)
		b = derived.AppendText(b, string(a.Value))
	}
	return b
}

// decodeRecord is the inverse of append. The record shares the memory of the decoder's content.
func decodeRecord(d *derived.Decoder) record {
	r := record{name: d.Text()}
	flags := byte(0)
	if text := d.Take(1); text != "" {
		flags = text[0]
	}
	r.racy = flags&racyBit != 0
	r.stat.Kind = domarkx.FileType(flags &^ (racyBit | xattrsBit))
	r.stat.Mode = uint32(d.Uvarint())
	r.stat.Ino = d.Uvarint()
	r.stat.Mtime = d.Varint()
	r.stat.Ctime = r.stat.Mtime + d.Varint()
	switch r.stat.Kind {
	case domarkx.Regular:
		r.stat.Size = int64(d.Uvarint())
		r.id = d.Text()
	case domarkx.Symlink:
		r.stat.Size = int64(d.Uvarint())
		r.target = d.Text()
	case domarkx.CharDevice, domarkx.BlockDevice:
		r.stat.Major, r.stat.Minor = uint32(d.Uvarint()), uint32(d.Uvarint())
	}
	if flags&xattrsBit != 0 {
		const least = 2 // minimal size of an attribute, in bytes
		for range d.Count(least) {
			r.xattrs = append(r.xattrs, domarkx.Xattr{Name: d.Text(), Value: []byte(d.Text())})
		}
	}
	return r
}

// decodeRecords decodes the records of a directory, which are sorted by name.
func decodeRecords(text string) ([]record, error) {
	d := derived.NewDecoder(text)
	const least = 6 // minimal size of a record, in bytes
	records := make([]record, 0, d.Count(least))
	for d.More() {
		records = append(records, decodeRecord(d))
	}
	if d.Bad() {
		return nil, errors.New("damaged records")
	}
	return records, nil
}

// recordNamed returns one of the records of a directory, nil if none has the name.
func recordNamed(records []record, name string) *record {
	i, ok := slices.BinarySearchFunc(records, name, func(r record, name string) int { return strings.Compare(r.name, name) })
	if !ok {
		return nil
	}
	return &records[i]
}

// encodeRecords is the inverse of decodeRecords.
func encodeRecords(records []record) string {
	b := binary.AppendUvarint(nil, uint64(len(records)))
	for i := range records {
		b = records[i].append(b)
	}
	return string(b)
}
