package zeus

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

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// sessionExtension is the extension of pi's session files. An untrusted document
// determines the path and content of a restored file, so only files with this extension
// are written: no other program interprets them.
const sessionExtension = ".jsonl"

// writeSession creates a session file atomically, and its missing parent directories. It
// does not overwrite files.
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
	if !zeusformat.IsTranscript(head) {
		return fmt.Errorf("%w: what was kept is no session of pi", domarkx.ErrInvalid)
	}
	return WriteNew(path, buffered)
}

// writeInto writes a session file into dir, under its own name. If another file has that
// name, part of the digest is appended. An existing file that starts with the same
// content is used as it is, because the session may have continued.
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

// continues reports whether a file starts with size bytes that have the given digest.
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

// WriteNew creates a file, durably and atomically: readers see the complete content or no
// file. It creates missing parent directories. If the file exists, the error is
// [io/fs.ErrExist].
func WriteNew(path string, content io.Reader) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.CommitNew()
}
