package codec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// EncodeEntries returns the entries file of a leaf. For each message it has the data that is neither in
// its JSON nor in its file names. A leaf can be decoded without its neighbours.
func EncodeEntries(leaf []domarkx.Entry) ([]byte, error) {
	dst := make([]byte, 0, 112*len(leaf))
	var previous *domarkx.Entry
	for i := range leaf {
		e := &leaf[i]
		if err := checkEntry(e); err != nil {
			return nil, fmt.Errorf("message %s: %w", e.ID, err)
		}
		dst = hex.AppendEncode(dst, e.ID[:])
		dst = appendDigest(append(dst, ' '), e.Layout.Digest)
		dst = strconv.AppendInt(append(dst, ' '), e.Layout.Size, 10)
		dst = strconv.AppendInt(append(dst, ' '), e.Date, 10)
		dst = append(appendFlags(dst, e, defaultAfter(previous, e.ID)), '\n')
		previous = e
	}
	return dst, nil
}

// defaultAfter returns the meaning of a line without after=: the message of the previous line; for
// another text of the same message the value of that; in the first line of a leaf, the beginning.
func defaultAfter(previous *domarkx.Entry, id domarkx.ID) domarkx.ID {
	switch {
	case previous == nil:
		return domarkx.ID{}
	case previous.ID == id:
		return previous.After
	}
	return previous.ID
}

func checkEntry(e *domarkx.Entry) error {
	if e.ID.IsZero() {
		return fmt.Errorf("zero id: %w", domarkx.ErrInvalid)
	}
	if e.Link != "" && !oid.IsHex(e.Link) {
		return fmt.Errorf("link %q: %w, expected a full object id", e.Link, domarkx.ErrInvalid)
	}
	if _, err := domarkx.ParseRole(string(e.Role)); err != nil {
		return err
	}
	return checkLayout(e.Layout)
}

// DecodeEntries decodes an entries file, and accepts only its canonical form. Role, JSON, Source and
// Layout.Verbatim follow from the names of the files beside it.
func DecodeEntries(data []byte) ([]domarkx.Entry, error) {
	lines, err := splitLines(data)
	if err != nil {
		return nil, err
	}
	if len(lines) > LeafWidth {
		return nil, fmt.Errorf("%w: %d lines, expected at most %d", domarkx.ErrCorrupt, len(lines), LeafWidth)
	}
	leaf := make([]domarkx.Entry, 0, LeafWidth)
	for i, line := range lines {
		var previous *domarkx.Entry
		if i > 0 {
			previous = &leaf[i-1]
		}
		e, err := decodeEntry(line, previous)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w: %v", i+1, domarkx.ErrCorrupt, err)
		}
		leaf = append(leaf, e)
	}
	for i := range leaf {
		leaf[i].Role = domarkx.User // any role, to encode it again
	}
	again, err := EncodeEntries(leaf)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, err)
	}
	if !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: %v", domarkx.ErrCorrupt, errLine)
	}
	for i := range leaf {
		leaf[i].Role = ""
	}
	return leaf, nil
}

func decodeEntry(line string, previous *domarkx.Entry) (e domarkx.Entry, err error) {
	fields := strings.Split(line, " ")
	if len(fields) < 4 {
		return e, errLine
	}
	if e.ID, err = domarkx.ParseID(fields[0]); err != nil {
		return e, err
	}
	if err := parseExtent(&e.Layout, fields[1], fields[2]); err != nil {
		return e, err
	}
	if e.Date, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
		return e, errLine
	}
	e.After = defaultAfter(previous, e.ID)
	return e, parseFlags(&e, fields[4:])
}

func parseExtent(l *domarkx.Layout, digest, size string) (err error) {
	if l.Digest, err = parseDigest(digest); err != nil {
		return err
	}
	if l.Size, err = strconv.ParseInt(size, 10, 64); err != nil {
		return errLine
	}
	return nil
}

// splitLines returns the lines of a file. Each must end with LF.
func splitLines(data []byte) ([]string, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if data[len(data)-1] != '\n' {
		return nil, fmt.Errorf("%w: the last line has no end", domarkx.ErrCorrupt)
	}
	return strings.Split(string(data[:len(data)-1]), "\n"), nil
}
