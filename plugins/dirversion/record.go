package dirversion

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
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
	b = appendString(b, r.name)
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
		b = appendString(b, r.id)
	case domarkx.Symlink:
		b = binary.AppendUvarint(b, uint64(r.stat.Size))
		b = appendString(b, r.target)
	case domarkx.CharDevice, domarkx.BlockDevice:
		b = binary.AppendUvarint(b, uint64(r.stat.Major))
		b = binary.AppendUvarint(b, uint64(r.stat.Minor))
	}
	if len(r.xattrs) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(r.xattrs)))
	for _, a := range r.xattrs {
		b = appendString(b, a.Name)
		b = appendString(b, string(a.Value))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errRecord = errors.New("damaged record")

// A decoder decodes records. The strings that it returns share the memory of text.
type decoder struct {
	b    []byte // the rest
	text string // the whole input
	bad  bool
}

func newDecoder(b []byte) decoder { return decoder{b: b, text: string(b)} }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) string() string {
	n := len(d.bytes())
	end := len(d.text) - len(d.b)
	return d.text[end-n : end]
}

func (d *decoder) record(r *record) error {
	*r = record{name: d.string()}
	if d.bad || len(d.b) == 0 {
		return errRecord
	}
	flags := d.b[0]
	d.b = d.b[1:]
	r.racy = flags&racyBit != 0
	r.stat.Kind = domarkx.FileType(flags &^ (racyBit | xattrsBit))
	r.stat.Mode = uint32(d.uvarint())
	r.stat.Ino = d.uvarint()
	r.stat.Mtime = d.varint()
	r.stat.Ctime = r.stat.Mtime + d.varint()
	switch r.stat.Kind {
	case domarkx.Regular:
		r.stat.Size = int64(d.uvarint())
		r.id = d.string()
	case domarkx.Symlink:
		r.stat.Size = int64(d.uvarint())
		r.target = d.string()
	case domarkx.CharDevice, domarkx.BlockDevice:
		r.stat.Major, r.stat.Minor = uint32(d.uvarint()), uint32(d.uvarint())
	}
	if flags&xattrsBit != 0 {
		for range min(d.uvarint(), uint64(len(d.b))) {
			r.xattrs = append(r.xattrs, domarkx.Xattr{Name: d.string(), Value: bytes.Clone(d.bytes())})
		}
	}
	if d.bad {
		return errRecord
	}
	return nil
}

// decodeRecords decodes the records of a directory, which are sorted by name.
func decodeRecords(b []byte) ([]record, error) {
	d := newDecoder(b)
	const least = 8 // minimal size of a record, in bytes
	records := make([]record, 0, min(d.uvarint(), uint64(len(b)/least)))
	for len(d.b) > 0 {
		var r record
		if err := d.record(&r); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	if d.bad {
		return nil, errRecord
	}
	return records, nil
}

// encodeRecords is the inverse of decodeRecords.
func encodeRecords(b []byte, records []record) []byte {
	b = binary.AppendUvarint(b, uint64(len(records)))
	for i := range records {
		b = records[i].append(b)
	}
	return b
}
