package dirversion

import (
	"errors"
	"io/fs"
	"os"

	"github.com/domarkx/domarkx"
)

// remove removes a file of an open directory. Of a directory it keeps excluded files; it
// then reports that the directory stays.
func (f *Directory) remove(d *dir, directory, name string, st stat) (stays bool, err error) {
	at := join(directory, name)
	if st.kind != domarkx.Directory {
		if err := f.captured(at, st); err != nil {
			return false, err
		}
		err := d.unlink(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, explain(at, err)
	}
	if err := f.admit(at, st); err != nil {
		return false, err
	}
	stays, err = f.empty(at)
	if stays || err != nil {
		return stays, err
	}
	err = d.rmdir(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return false, explain(at, err)
}

// empty removes the content of a directory. It holds no directory open while it descends, since
// they may be nested deeper than this process may open files.
func (f *Directory) empty(directory string) (stays bool, err error) {
	directories, stays, err := f.emptyOfFiles(directory)
	if err != nil {
		return stays, err
	}
	var emptied []string
	for _, name := range directories {
		s, err := f.empty(join(directory, name))
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
	defer d.close()
	for _, name := range emptied {
		if err := d.rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return stays, explain(join(directory, name), err)
		}
	}
	return stays, nil
}

// emptyOfFiles removes all files in a directory except directories, and returns those.
func (f *Directory) emptyOfFiles(directory string) (directories []string, stays bool, err error) {
	d, err := f.openToChange(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, explain(directory, err)
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return nil, false, explain(directory, err)
	}
	for _, name := range names {
		at := join(directory, name)
		st, out, err := f.look(d, at, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case out:
			stays = true
		case err != nil:
			return nil, stays, explain(at, err)
		case st.kind != domarkx.Directory:
			if err := f.captured(at, st); err != nil {
				return nil, stays, err
			}
			if err := d.unlink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, stays, explain(at, err)
			}
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
func (f *Directory) openToChange(path string) (*dir, error) {
	d, err := f.top.open(path)
	if errors.Is(err, fs.ErrPermission) && path != "" {
		if err := f.allow(path); err != nil {
			return nil, err
		}
		d, err = f.top.open(path)
	}
	if err != nil {
		return nil, err
	}
	st, err := d.stat("")
	if err == nil && st.mode&0o700 != 0o700 {
		err = d.chmod(st.mode | 0o700)
	}
	if err != nil {
		d.close()
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
	_, err = f.empty("")
	return errors.Join(err, f.Close())
}
