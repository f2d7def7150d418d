package importer

import (
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// An includeReader reads included files from one directory. It follows no link that leads out of the directory.
type includeReader struct {
	root     string
	redacted func([]byte) ([]byte, error) // replaces the secrets in a file; nil if they stay
	opened   *os.Root
	digest   hash.Hash
}

// maxInclude is the maximum size of an included file in bytes.
const maxInclude = 16 << 20

func (r *includeReader) read(path string) ([]byte, error) {
	if r.opened == nil {
		var err error
		if r.opened, err = os.OpenRoot(r.root); err != nil {
			return nil, err
		}
	}
	if err := r.notGit(path); err != nil {
		return nil, err
	}
	f, err := r.opened.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0) // without it, opening a FIFO would block
	if err != nil {
		return nil, local.PathError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, local.PathError(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxInclude {
		return nil, fmt.Errorf("%w: it is no regular file of at most %d MiB", domarkx.ErrInvalid, maxInclude>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxInclude))
	if err != nil {
		return nil, local.PathError(err)
	}
	fmt.Fprintf(r.digest, "\x00%s\x00%d\x00", path, len(data))
	_, _ = r.digest.Write(data) // a hash returns no errors
	if r.redacted != nil {
		return r.redacted(data)
	}
	return data, nil
}

// notGit returns an error for a path that leads into a .git directory, also through links, which may come from a
// hostile repository. A .git directory may contain credentials.
func (r *includeReader) notGit(path string) error {
	root, err := filepath.EvalSymlinks(r.root)
	if err != nil {
		return local.PathError(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return local.PathError(err)
	}
	within, err := filepath.Rel(root, real)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(filepath.ToSlash(within), "/") {
		if strings.EqualFold(name, ".git") {
			return fmt.Errorf("%w: the file is in a .git directory, which cannot be included from", domarkx.ErrInvalid)
		}
	}
	return nil
}

func (r *includeReader) sum() string { return hex.EncodeToString(r.digest.Sum(nil)) }

func (r *includeReader) close() {
	if r.opened != nil {
		r.opened.Close()
	}
}
