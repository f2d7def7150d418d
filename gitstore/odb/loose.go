package odb

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
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
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
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
	packed := make([]byte, info.Size())
	if _, err := io.ReadFull(f, packed); err != nil {
		return 0, nil, err
	}
	return decodeLoose(packed)
}

func decodeLoose(packed []byte) (Type, []byte, error) {
	in, err := newInflater(packed)
	if err != nil {
		return 0, nil, err
	}
	defer in.release()
	t, size, start, err := in.looseHeader()
	if err != nil {
		return 0, nil, err
	}
	data, err := in.rest(start, size)
	if err != nil {
		return 0, nil, err
	}
	if in.src.Len() > 0 {
		return 0, nil, errLoose("it has trailing data")
	}
	return t, data, nil
}

// statLoose returns the type and size in the header of a loose object, without reading its content.
func statLoose(path string) (Type, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	packed := make([]byte, 4096)
	n, err := io.ReadFull(f, packed)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, 0, errLoose("it is empty")
	}
	in, err := newInflater(packed[:n])
	if err != nil {
		return 0, 0, err
	}
	defer in.release()
	t, size, _, err := in.looseHeader()
	return t, size, err
}

// looseHeader reads the header of a loose object, and returns the content that it has read with the header.
func (f *inflater) looseHeader() (Type, int64, []byte, error) {
	head := make([]byte, maxLooseHeader)
	n, err := io.ReadFull(f.zlib, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return 0, 0, nil, errInflate(err)
	}
	header, content, ok := bytes.Cut(head[:n], []byte{0})
	name, digits, ok2 := bytes.Cut(header, []byte{' '})
	t, ok3 := parseType(string(name))
	size, err := strconv.ParseInt(string(digits), 10, 64)
	if !ok || !ok2 || !ok3 || err != nil || size < 0 || strconv.FormatInt(size, 10) != string(digits) {
		return 0, 0, nil, errLoose("its header is not \"TYPE SIZE\"")
	}
	return t, size, content, nil
}

func errLoose(what string) error {
	return fmt.Errorf("loose object: %w: %s", domarkx.ErrCorrupt, what)
}
