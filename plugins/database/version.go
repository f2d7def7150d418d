package database

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A Version writes files to a [domarkx.VersionWriter]. It recognizes the files of the previous
// version by their SHA-256 and does not write their content again.
type Version struct {
	w           domarkx.VersionWriter
	cache       string
	known       map[[sha256.Size]byte]string // ids of contents, by their SHA-256
	now         map[[sha256.Size]byte]string
	directories map[string]bool
}

// Begin begins a version with its top directory. cache is the path of a file that
// [Version.Finish] writes for the next version.
func Begin(ctx context.Context, w domarkx.VersionWriter, cache string) (*Version, error) {
	known, err := readKnown(cache)
	if err != nil {
		return nil, err
	}
	v := &Version{w: w, cache: cache, known: known, now: map[[sha256.Size]byte]string{}, directories: map[string]bool{"": true}}
	return v, w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755})
}

// File adds a file and its parent directories. The paths must come in depth-first order.
func (v *Version) File(ctx context.Context, path string, data []byte) error {
	for i, c := range path {
		if directory := path[:i]; c == '/' && !v.directories[directory] {
			v.directories[directory] = true
			if err := v.w.Add(ctx, directory, domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
				return err
			}
		}
	}
	sum := sha256.Sum256(data)
	file := domarkx.File{Type: domarkx.Regular, Mode: 0o644, Size: int64(len(data))}
	file.ID = v.now[sum]
	if file.ID == "" {
		file.ID = v.known[sum]
	}
	if file.ID != "" {
		err := v.w.Add(ctx, path, file)
		if err == nil || !errors.Is(err, domarkx.ErrNotFound) {
			v.now[sum] = file.ID
			return err
		}
	}
	id, size, err := v.w.Content(ctx, bytes.NewReader(data))
	if err != nil {
		return err
	}
	if size != file.Size {
		return fmt.Errorf("file %q: %d bytes of %d were stored: %w", path, size, file.Size, domarkx.ErrCorrupt)
	}
	file.ID = id
	v.now[sum] = id
	return v.w.Add(ctx, path, file)
}

// Large adds a large file at the top of the version. It stores the content in parts if the writer
// is a [domarkx.PartWriter], since most parts stay the same from version to version.
func (v *Version) Large(ctx context.Context, path string, r io.Reader) error {
	store := v.w.Content
	if p, ok := v.w.(domarkx.PartWriter); ok {
		store = p.ContentInParts
	}
	id, size, err := store(ctx, r)
	if err != nil {
		return err
	}
	return v.w.Add(ctx, path, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
}

// Finish writes the cache.
func (v *Version) Finish() error {
	data := []byte(knownMagic)
	for sum, id := range v.now {
		data = append(data, sum[:]...)
		data = binary.AppendUvarint(data, uint64(len(id)))
		data = append(data, id...)
	}
	sum := sha256.Sum256(data)
	return atomicfile.Replace(v.cache, append(data, sum[:]...))
}

const knownMagic = "known contents 1\n"

// readKnown reads the cache. A damaged one counts as empty, since it only saves work.
func readKnown(path string) (map[[sha256.Size]byte]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(data) < len(knownMagic)+sha256.Size {
		return nil, err
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) || !strings.HasPrefix(string(body), knownMagic) {
		return nil, nil
	}
	known := map[[sha256.Size]byte]string{}
	r := bufio.NewReader(bytes.NewReader(body[len(knownMagic):]))
	for {
		var sum [sha256.Size]byte
		if _, err := io.ReadFull(r, sum[:]); err != nil {
			return known, nil
		}
		n, err := binary.ReadUvarint(r)
		if err != nil || n > uint64(len(data)) {
			return nil, nil
		}
		id := make([]byte, n)
		if _, err := io.ReadFull(r, id); err != nil {
			return nil, nil
		}
		known[sum] = string(id)
	}
}
