package agents

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/zeus"
)

// sessionExtension is what sessions of pi end in. Where a document says the path
// and somebody else may have written what is put there, only files that nothing but
// pi looks at are made.
const sessionExtension = ".jsonl"

// writeSession writes a session to where nothing is: all of it or nothing, with the
// folders around it. What is there already is left alone.
func writeSession(path string, content io.Reader) error {
	switch {
	case !filepath.IsAbs(path) || filepath.Clean(path) != path:
		return fmt.Errorf("%w: its path is not absolute, or has . or .. in it", domarkx.ErrInvalid)
	case filepath.Ext(path) != sessionExtension:
		return fmt.Errorf("%w: its name does not end in %s", domarkx.ErrInvalid, sessionExtension)
	}
	buffered := bufio.NewReaderSize(content, format.HeadSize)
	head, err := buffered.Peek(format.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !zeus.IsTranscript(head) {
		return fmt.Errorf("%w: what was kept is no session of pi", domarkx.ErrInvalid)
	}
	return WriteNew(path, buffered)
}

// writeInto writes a session into a folder, under its own name or, where another one
// has that, one that its digest follows. One that is there already, and may have gone
// on since, is taken.
func writeInto(dir, path, digest string, content domarkx.Content) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(path), sessionExtension)
	if name == "" || strings.HasPrefix(name, ".") {
		name = "session"
	}
	for _, name := range []string{name, name + "-" + digest[:12]} {
		target := filepath.Join(dir, name+sessionExtension)
		err := writeSession(target, reader(content))
		if err == nil || errors.Is(err, fs.ErrExist) && continues(target, content.Size(), digest) {
			return target, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("writing its session: %w", err)
		}
	}
	return "", fmt.Errorf("writing its session: %s has other files of its name", dir)
}

func reader(c domarkx.Content) io.Reader { return io.NewSectionReader(c, 0, c.Size()) }

// continues reports whether a file begins with the bytes that have a digest.
func continues(path string, size int64, digest string) bool {
	if !isFile(path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.CopyN(sum, f, size)
	return err == nil && n == size && hex.EncodeToString(sum.Sum(nil)) == digest
}
