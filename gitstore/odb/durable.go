package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// syncContent makes the contents of files durable before they get their names.
func syncContent(files ...*atomicfile.File) error {
	errs := make([]error, len(files))
	var group sync.WaitGroup
	for i, f := range files { // at once, so that they wait for the disk together
		group.Go(func() { errs[i] = writeError("sync pack", f.Sync()) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// writeError wraps an error of the file system. The result is also [domarkx.ErrReadOnly] if the repository is not
// writable.
func writeError(what string, err error) error {
	if err == nil {
		return nil
	}
	var path *os.PathError
	var link *os.LinkError
	where := ""
	switch {
	case errors.As(err, &path):
		where, err = filepath.Dir(path.Path), path.Err
	case errors.As(err, &link):
		where, err = filepath.Dir(link.New), link.Err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%s in %q: %w repository: %w", what, where, domarkx.ErrReadOnly, err)
	}
	return fmt.Errorf("%s in %q: %w", what, where, err)
}
