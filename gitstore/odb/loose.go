package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
)

// loosePath returns the path of a loose object in an object directory.
func loosePath(dir string, id ID) string {
	hex := id.String()
	return dir + string(filepath.Separator) + hex[:2] + string(filepath.Separator) + hex[2:]
}

// maxLooseHeader is more than the length in bytes of the longest header: "commit", a space, 20 digits and a NUL.
const maxLooseHeader = 32

// readLoose returns the type and content of a loose object.
func readLoose(path string) (Type, []byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, nil, err
	}
	if !info.Mode().IsRegular() {
		return 0, nil, errLoose("it is not a regular file")
	}
	// zlib makes incompressible data longer by less than a thousandth.
	if info.Size() > maxObject+maxObject/1000 {
		return 0, nil, errTooLarge(info.Size())
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		return 0, nil, err
	}
	return decodeLoose(packed)
}

func decodeLoose(packed []byte) (Type, []byte, error) {
	t, size, start, err := looseHeader(packed)
	if err != nil {
		return 0, nil, err
	}
	if size > maxObject {
		return 0, nil, errTooLarge(size)
	}
	data, err := memoryFor(int64(start)+size, packed)
	if err != nil {
		return 0, nil, err
	}
	switch n, err := inflate.Decode(data, packed); {
	case err != nil:
		return 0, nil, errInflate(err)
	case n < len(packed):
		return 0, nil, errLoose("it has trailing data")
	case binary.BigEndian.Uint32(packed[n-adler32.Size:]) != adler32.Checksum(data):
		return 0, nil, errLoose("its checksum differs")
	}
	return t, data[start:], nil
}

// statLoose returns the type and size in the header of a loose object, without reading its content.
func statLoose(path string) (Type, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	packed, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return 0, 0, err
	}
	t, size, _, err := looseHeader(packed)
	return t, size, err
}

// looseHeader reads the header of a loose object: type, size of the content, and where that starts.
func looseHeader(packed []byte) (t Type, size int64, start int, err error) {
	var head [maxLooseHeader]byte
	n, err := inflate.Head(head[:], packed)
	if err != nil {
		return 0, 0, 0, errInflate(err)
	}
	header, _, ok := bytes.Cut(head[:n], []byte{0})
	name, digits, ok2 := bytes.Cut(header, []byte{' '})
	t, ok3 := parseType(string(name))
	size, err = strconv.ParseInt(string(digits), 10, 64)
	if !ok || !ok2 || !ok3 || err != nil || size < 0 || strconv.FormatInt(size, 10) != string(digits) {
		return 0, 0, 0, errLoose("its header is not \"TYPE SIZE\"")
	}
	return t, size, len(header) + 1, nil
}

func errLoose(what string) error {
	return fmt.Errorf("loose object: %w: %s", domarkx.ErrCorrupt, what)
}
