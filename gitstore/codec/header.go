package codec

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// EncodeHeaderFile returns the header file: one line with the data that is neither in snapshot.json nor
// in the preamble's bytes. It returns nil, for no file, if all values are defaults. In
// headers/<rev>/ the name of the directory has the revision.
func EncodeHeaderFile(h domarkx.HeaderEntry, named bool) ([]byte, error) {
	if err := checkLayout(h.Layout); err != nil {
		return nil, fmt.Errorf("preamble: %w", err)
	}
	line := domarkx.Entry{Rev: h.Rev, Past: h.Past, Layout: h.Layout}
	if named {
		line.Rev = domarkx.Rev{}
	}
	dst := appendDigest(nil, h.Layout.Digest)
	dst = strconv.AppendInt(append(dst, ' '), h.Layout.Size, 10)
	dst = append(appendFlags(dst, &line, domarkx.ID{}), '\n')
	if string(dst) == "- 0\n" {
		return nil, nil
	}
	return dst, nil
}

// DecodeHeaderFile decodes a header file, and accepts only its canonical form. data is nil if there is
// no file.
func DecodeHeaderFile(data []byte, named bool) (domarkx.HeaderEntry, error) {
	var h domarkx.HeaderEntry
	if data == nil {
		return h, nil
	}
	lines, err := splitLines(data)
	if err != nil {
		return h, err
	}
	var line domarkx.Entry
	fields := strings.Split(strings.Join(lines, "\n"), " ")
	if len(lines) != 1 || len(fields) < 2 {
		return h, fmt.Errorf("%w: expected one line of two or more fields", domarkx.ErrCorrupt)
	}
	if err := parseExtent(&line.Layout, fields[0], fields[1]); err != nil {
		return h, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, err)
	}
	if err := parseFlags(&line, fields[2:]); err != nil {
		return h, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, err)
	}
	h = domarkx.HeaderEntry{Rev: line.Rev, Past: line.Past, Layout: line.Layout}
	again, err := EncodeHeaderFile(h, named)
	if err != nil || !bytes.Equal(again, data) {
		return domarkx.HeaderEntry{}, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, errLine)
	}
	return h, nil
}
