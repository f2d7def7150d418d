package opencodedb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
)

// Before version 1.2, OpenCode stored its sessions in the directory "storage": one JSON file for
// each session, message and part, below session/PROJECT, message/SESSION and part/MESSAGE. Such a
// directory is read like a database, and its sessions have paths of the same form.

// IsStorage reports whether a directory is a storage directory of OpenCode.
func IsStorage(dir string) bool {
	if filepath.Base(dir) != "storage" {
		return false
	}
	for _, name := range []string{"session", "message", "part"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// InStorage returns the [Path] of the session in a file session/PROJECT/ID.json of a storage
// directory. ok is false for any other file.
func InStorage(file string) (string, bool) {
	id, ok := strings.CutSuffix(filepath.Base(file), ".json")
	if session := filepath.Dir(filepath.Dir(file)); ok && strings.HasPrefix(id, "ses_") && filepath.Base(session) == "session" {
		return Path(filepath.Dir(session), id), true
	}
	return "", false
}

// openStorage opens a storage directory. It never follows a symbolic link to the outside.
func (d *DB) openStorage() (err error) {
	if !IsStorage(d.path) {
		return fmt.Errorf("%w: it is a directory, but not the storage of OpenCode", domarkx.ErrUnsupported)
	}
	d.storage, err = os.OpenRoot(d.path)
	return err
}

// stored returns the content of a file, which must be regular and contain a JSON object.
func (d *DB) stored(name string) ([]byte, error) {
	info, err := d.storage.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxValue {
		return nil, fmt.Errorf("%s: %w: not a regular file, or too large", name, domarkx.ErrInvalid)
	}
	data, err := d.storage.ReadFile(name)
	if err == nil && !isObject(string(data)) {
		err = fmt.Errorf("%s: %w: not a JSON object", name, domarkx.ErrInvalid)
	}
	return bytes.TrimSpace(data), err
}

// ids returns the ids of the objects in a directory, which are the names of its files, in the order
// of their creation. It calls visit for each file, unless visit is nil.
func (d *DB) ids(dir string, visit func(name string, info fs.FileInfo)) ([]string, error) {
	entries, err := fs.ReadDir(d.storage.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		ids = append(ids, id)
		if visit != nil {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			visit(path.Join(dir, e.Name()), info)
		}
	}
	return ids, nil
}

// files returns the paths of session files by id. It reads the directory only once.
func (d *DB) files() (map[string]string, error) {
	if d.sessionFiles != nil {
		return d.sessionFiles, nil
	}
	projects, err := fs.ReadDir(d.storage.FS(), "session")
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, project := range projects {
		dir := path.Join("session", project.Name())
		if !project.IsDir() {
			continue
		}
		ids, err := d.ids(dir, nil)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if strings.HasPrefix(id, "ses_") {
				files[id] = path.Join(dir, id+".json")
			}
		}
	}
	d.sessionFiles = files
	return files, nil
}

// StoredFiles calls visit for each file of a session in a storage directory, without reading the
// files.
func (d *DB) StoredFiles(id string, visit func(name string, info fs.FileInfo)) error {
	if d.storage == nil {
		return nil
	}
	files, err := d.files()
	if err != nil {
		return err
	}
	info, err := d.storage.Lstat(files[id])
	if err != nil {
		return err
	}
	visit(files[id], info)
	messages, err := d.ids("message/"+id, visit)
	for _, m := range messages {
		if err == nil {
			_, err = d.ids("part/"+m, visit)
		}
	}
	return err
}

// storedSessions implements [DB.Sessions] for a storage directory. The sessions have no stamp; use
// [DB.StoredFiles] to detect changes.
func (d *DB) storedSessions(ctx context.Context) ([]opencode.StoredSession, error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	var all []opencode.StoredSession
	created := map[string]int64{}
	for id, file := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var info struct {
			Directory string `json:"directory"`
			Time      struct {
				Created int64 `json:"created"`
			} `json:"time"`
		}
		data, err := d.stored(file)
		if err != nil || json.Unmarshal(data, &info) != nil {
			continue // the export of the session reports the error
		}
		created[id] = info.Time.Created
		all = append(all, opencode.StoredSession{ID: id, Directory: info.Directory})
	}
	slices.SortFunc(all, func(a, b opencode.StoredSession) int {
		return cmp.Or(cmp.Compare(created[a.ID], created[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// exportStored implements [DB.Export] for a storage directory.
func (d *DB) exportStored(ctx context.Context, id string, w io.Writer) (skipped []string, err error) {
	files, err := d.files()
	if err == nil && files[id] == "" {
		err = domarkx.ErrNotFound
	}
	var info []byte
	if err == nil {
		info, err = d.stored(files[id])
	}
	var messages []string
	if err == nil {
		messages, err = d.ids("message/"+id, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the session %q: %w", id, err)
	}
	fmt.Fprintf(w, "{\n\"info\":%s,\n\"messages\":[", info)
	separator := ""
	for _, m := range messages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		message, err := d.stored(path.Join("message", id, m+".json"))
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("the message %q could not be read", m))
			continue
		}
		fmt.Fprintf(w, "%s\n{\"info\":%s,\"parts\":[", separator, message)
		parts, err := d.ids("part/"+m, nil)
		if err != nil {
			return nil, fmt.Errorf("reading the session %q: %w", id, err)
		}
		between := ""
		for _, p := range parts {
			part, err := d.stored(path.Join("part", m, p+".json"))
			if err != nil {
				skipped = append(skipped, fmt.Sprintf("the part %q of message %q could not be read", p, m))
				continue
			}
			fmt.Fprintf(w, "%s%s", between, part)
			between = ","
		}
		fmt.Fprint(w, "]}")
		separator = ","
	}
	_, err = fmt.Fprint(w, "\n]}\n")
	return skipped, err
}
