package tree

import (
	"errors"
	"io/fs"

	"github.com/domarkx/domarkx"
)

// remove removes a file of an open folder, a folder with all in it except what is
// excluded, and reports whether it stays for that.
func (f *Folder) remove(d *dir, folder, name string, st stat) (stays bool, err error) {
	at := join(folder, name)
	if st.kind != domarkx.Directory {
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

// empty removes what is in a folder.
func (f *Folder) empty(folder string) (stays bool, err error) {
	sub, err := f.openToChange(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, explain(folder, err)
	}
	defer sub.close()
	names, err := sub.names()
	if err != nil {
		return false, explain(folder, err)
	}
	for _, name := range names {
		at := join(folder, name)
		st, out, err := f.look(sub, at, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if out {
			stays = true
			continue
		}
		if err != nil {
			return stays, explain(at, err)
		}
		s, err := f.remove(sub, folder, name, st)
		if err != nil {
			return stays, err
		}
		stays = stays || s
	}
	return stays, nil
}

// openToChange opens a folder and makes its mode let this user change it.
func (f *Folder) openToChange(path string) (*dir, error) {
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

// Empty removes all that is in a folder, without following symbolic links; the
// folder itself stays.
func Empty(path string) error {
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
