package refdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// wholeTables returns the names of the tables after it has checked them: Git takes a damaged table for one without
// references, so that all sessions would be gone, and objects that only they need would not be kept.
func (r *Refs) wholeTables() (string, error) {
	for {
		list, err := r.tables()
		if err != nil {
			return "", err
		}
		damage := r.checkTables(list)
		if damage == nil {
			return list, nil
		}
		// A git that changes references at this moment has removed a table that was in the list.
		if now, err := r.tables(); err != nil || now == list {
			return "", errors.Join(damage, err)
		}
	}
}

func (r *Refs) checkTables(list string) error {
	names := strings.Fields(list)
	if len(names) == 0 { // each repository has at least one, with HEAD
		return fmt.Errorf("reading references: %w: %q names no table; correct extensions.refStorage in the repository's configuration if its references are in files, "+
			"otherwise restore that directory from a backup", domarkx.ErrCorrupt, r.path(tablesList))
	}
	for _, name := range names {
		err := fs.ErrNotExist
		if !strings.ContainsAny(name, `/\`) {
			err = r.checkTable(r.path(tablesDir + name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: it does not exist", domarkx.ErrCorrupt)
		}
		if err != nil {
			return fmt.Errorf("reading references: the table %q is %w", r.path(tablesDir+name), err)
		}
	}
	return nil
}

// The sizes of parts of a table, in bytes, and ids of hash functions in it (gitformat-reftable(5)).
const (
	headerOf1 = 24
	headerOf2 = headerOf1 + 4    // the id of the hash function
	positions = 5*8 + crc32.Size // what the footer has after a copy of the header
)

// checkTable checks the header and the footer of a table, which has a checksum.
func (r *Refs) checkTable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	damaged := fmt.Errorf("%w; restore it from a backup (git fsck --lost-found finds the commits that it named)", domarkx.ErrCorrupt)
	var header [headerOf2]byte
	if _, err := file.ReadAt(header[:], 0); err != nil || string(header[:4]) != "REFT" {
		return damaged
	}
	size, hash := headerOf1, oid.SHA1
	if header[4] == 2 {
		size = headerOf2
		if string(header[headerOf1:]) == "s256" {
			hash = oid.SHA256
		}
	}
	footer := make([]byte, size+positions)
	if _, err := file.ReadAt(footer, info.Size()-int64(len(footer))); err != nil || !bytes.Equal(footer[:size], header[:size]) {
		return damaged
	}
	summed := footer[:len(footer)-crc32.Size]
	if crc32.ChecksumIEEE(summed) != binary.BigEndian.Uint32(footer[len(summed):]) {
		return damaged
	}
	if hash != r.git.Hash {
		return fmt.Errorf("one of %s: %w, because the repository's configuration says %s; correct extensions.objectFormat there", hash, domarkx.ErrUnsupported, r.git.Hash)
	}
	return nil
}
