package dirversion

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// remove removes a file of an open directory. Of a directory it keeps excluded files; it
// then reports that the directory stays.
func (f *Directory) remove(ctx context.Context, d *beneath.Dir, directory, name string, st beneath.Stat) (stays bool, err error) {
	at := join(directory, name)
	if st.Kind != domarkx.Directory {
		stays, err := f.unlink(ctx, d, at, st)
		return stays, explain(at, err)
	}
	if err := f.admit(at, st); err != nil {
		return false, err
	}
	stays, err = f.empty(ctx, at)
	if stays || err != nil {
		return stays, err
	}
	return f.rmdir(d, at)
}

// rmdir removes an emptied directory. It reports whether the directory stays because another program created files in it.
func (f *Directory) rmdir(d *beneath.Dir, at string) (stays bool, err error) {
	_, name := split(at)
	switch err := d.Rmdir(name); {
	case f.observe != nil && errors.Is(err, syscall.ENOTEMPTY):
		f.observe.leaveAlone(at)
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, explain(at, err)
	}
}

// empty removes the content of a directory. It holds no directory open while it descends, since
// they may be nested deeper than this process may open files.
func (f *Directory) empty(ctx context.Context, directory string) (stays bool, err error) {
	directories, stays, err := f.emptyOfFiles(ctx, directory)
	if err != nil {
		return stays, err
	}
	var emptied []string
	for _, name := range directories {
		s, err := f.empty(ctx, join(directory, name))
		if err != nil {
			return stays, err
		}
		if stays = stays || s; !s {
			emptied = append(emptied, name)
		}
	}
	if len(emptied) == 0 {
		return stays, nil
	}
	d, err := f.openToChange(directory)
	if err != nil {
		return stays, explain(directory, err)
	}
	defer d.Close()
	for _, name := range emptied {
		s, err := f.rmdir(d, join(directory, name))
		if err != nil {
			return stays, err
		}
		stays = stays || s
	}
	return stays, nil
}

// emptyOfFiles removes all files in a directory except directories, and returns those.
func (f *Directory) emptyOfFiles(ctx context.Context, directory string) (directories []string, stays bool, err error) {
	d, err := f.openToChange(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, explain(directory, err)
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return nil, false, explain(directory, err)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, stays, err
		}
		at := join(directory, name)
		st, out, err := f.look(d, at, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case out:
			stays = true
		case err != nil:
			return nil, stays, explain(at, err)
		case st.Kind != domarkx.Directory:
			s, err := f.unlink(ctx, d, at, st)
			if err != nil {
				return nil, stays, explain(at, err)
			}
			stays = stays || s
		default:
			if err := f.admit(at, st); err != nil {
				return nil, stays, err
			}
			directories = append(directories, name)
		}
	}
	return directories, stays, nil
}

// openToChange opens a directory and changes its mode so that this user can modify it.
func (f *Directory) openToChange(path string) (*beneath.Dir, error) {
	d, err := f.top.Open(path)
	if errors.Is(err, fs.ErrPermission) && path != "" {
		if err := f.top.Allow(path); err != nil {
			return nil, err
		}
		d, err = f.top.Open(path)
	}
	if err != nil {
		return nil, err
	}
	st, err := d.Stat("")
	if err == nil && st.Mode&0o700 != 0o700 {
		err = d.Chmod(st.Mode | 0o700)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Empty removes everything in a directory but keeps the directory. It follows no symbolic
// links; if path does not exist or is a symbolic link, Empty does nothing.
func Empty(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return nil
	}
	f, err := Open(Config{Path: path})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.empty(context.Background(), "")
	return errors.Join(err, f.Close())
}
