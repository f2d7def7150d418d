package version

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A row is a line of a sidecar: the attributes of one file.
type row struct {
	name  string
	kind  domarkx.FileType // 0 if the tree entry shows the type
	major uint32
	minor uint32
	mode  *uint32 // nil for the default
	owner *owner  // nil for the default
	link  string
	xattr []domarkx.Xattr
}

// apply sets the attributes of a file from its row, which may be nil, and the defaults. The file's type must be set.
func (r *row) apply(f *domarkx.File, d *defaults) {
	mode, o := d.modes[classOf(f)], d.owner
	if r != nil {
		if r.mode != nil {
			mode = *r.mode
		}
		if r.owner != nil {
			o = *r.owner
		}
		f.Major, f.Minor, f.HardLink, f.Xattrs = r.major, r.minor, r.link, r.xattr
	}
	f.Mode, f.HasOwner, f.UID, f.GID = mode, o.known, o.uid, o.gid
}

// A sidecar is the decoded content of a sidecar file. decodeSidecar also accepts redundant and alternative spellings: the
// caller encodes the result again and compares the bytes.
type sidecar struct {
	defaults defaults
	self     *row  // the directory's own attributes; nil if there are none
	rows     []row // in strictly ascending order of name
}

func errSidecar(line int, text []byte) error {
	return fmt.Errorf("%s, line %d: %w: %.100q", sidecarName, line, domarkx.ErrCorrupt, text)
}

func decodeSidecar(data []byte) (*sidecar, error) {
	s := &sidecar{defaults: defaults{modes: classModes}}
	if len(data) > maxSidecar {
		return nil, fmt.Errorf("%s: %w: it has %d bytes", sidecarName, domarkx.ErrCorrupt, len(data))
	}
	for number := 1; len(data) > 0; number++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		if !ended {
			return nil, errSidecar(number, line)
		}
		if number == 1 {
			if !s.header(string(line)) {
				return nil, errSidecar(number, line)
			}
			continue
		}
		r, ok := decodeRow(string(line))
		if !ok || len(s.rows) > 0 && s.rows[len(s.rows)-1].name >= r.name {
			return nil, errSidecar(number, line)
		}
		if r.name != "." {
			s.rows = append(s.rows, r)
		} else if number == 2 && r.kind == 0 && r.link == "" {
			s.self = &r
		} else {
			return nil, errSidecar(number, line)
		}
	}
	return s, nil
}

func (s *sidecar) header(line string) bool {
	flags, ok := strings.CutPrefix(line, sidecarMagic)
	if !ok || flags != "" && flags[0] != ' ' {
		return false
	}
	for flag := range strings.FieldsSeq(flags) {
		key, value, _ := strings.Cut(flag, "=")
		if c := slices.Index(classNames[:classSymlink], key); c >= 0 {
			mode, ok := parseMode(value)
			if !ok || class(c) == classExec && mode&0o100 == 0 {
				return false
			}
			s.defaults.modes[c] = mode
		} else if o, ok := parseOwner(value); ok && key == "owner" {
			s.defaults.owner = o
		} else {
			return false
		}
	}
	return true
}

func decodeRow(line string) (r row, ok bool) {
	name, flags, ok := strings.Cut(line, " ")
	if !ok {
		return r, false
	}
	r.name = "."
	if name != "." {
		var err error
		if r.name, err = unescapeName(name); err != nil {
			return r, false
		}
	}
	for flag := range strings.SplitSeq(flags, " ") {
		key, value, _ := strings.Cut(flag, "=")
		ok := false
		switch key {
		case "type":
			ok = r.setType(value)
		case "mode":
			var mode uint32
			mode, ok = parseMode(value)
			r.mode = &mode
		case "owner":
			var o owner
			if o, ok = parseOwner(value); value == "-" {
				o, ok = owner{}, true
			}
			r.owner = &o
		case "link":
			r.link, ok = parseLink(value)
		case "xattr":
			ok = r.addXattr(value)
		}
		if !ok {
			return r, false
		}
	}
	return r, true
}

func (r *row) setType(value string) bool {
	kind, numbers, _ := strings.Cut(value, ":")
	switch kind {
	case "fifo":
		r.kind = domarkx.Fifo
		return numbers == ""
	case "symlink":
		r.kind = domarkx.Symlink
		return numbers == ""
	case "char":
		r.kind = domarkx.CharDevice
	case "block":
		r.kind = domarkx.BlockDevice
	default:
		return false
	}
	o, ok := parseOwner(numbers) // MAJOR:MINOR has the syntax of UID:GID
	r.major, r.minor = o.uid, o.gid
	return ok
}

func parseMode(s string) (uint32, bool) {
	mode, err := strconv.ParseUint(s, 8, 12)
	return uint32(mode), err == nil
}

func parseOwner(s string) (owner, bool) {
	uid, gid, _ := strings.Cut(s, ":")
	u, err := strconv.ParseUint(uid, 10, 32)
	g, err2 := strconv.ParseUint(gid, 10, 32)
	return owner{true, uint32(u), uint32(g)}, err == nil && err2 == nil
}

func parseLink(value string) (string, bool) {
	names := strings.Split(value, "/")
	if len(names) > MaxDepth+1 {
		return "", false
	}
	for i := range names {
		var err error
		if names[i], err = unescapeName(names[i]); err != nil {
			return "", false
		}
	}
	return strings.Join(names, "/"), true
}

func (r *row) addXattr(value string) bool {
	escaped, encoded, _ := strings.Cut(value, ":")
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return false
	}
	x := domarkx.Xattr{Name: name}
	if x.Value, err = base64.RawURLEncoding.DecodeString(encoded); err != nil {
		return false
	}
	r.xattr = append(r.xattr, x)
	return checkXattrs(r.xattr[max(0, len(r.xattr)-2):]) == nil
}

// checkXattrs returns [domarkx.ErrInvalid] unless xattrs are valid, sorted by name, and have different names.
func checkXattrs(xattrs []domarkx.Xattr) error {
	for i, x := range xattrs {
		switch {
		case x.Name == "" || len(x.Name) > maxXattrName || strings.ContainsRune(x.Name, 0):
			return fmt.Errorf("%w: %q is not a valid name of an extended attribute", domarkx.ErrInvalid, x.Name)
		case len(x.Value) > maxXattrValue:
			return fmt.Errorf("%w: its extended attribute %q has %d bytes, expected at most %d", domarkx.ErrInvalid, x.Name, len(x.Value), maxXattrValue)
		case i > 0 && xattrs[i-1].Name >= x.Name:
			return fmt.Errorf("%w: duplicate extended attribute %q", domarkx.ErrInvalid, x.Name)
		}
	}
	return nil
}
