// Package workspacetest is a store of workspaces for tests of the mount. It stores plain
// files in a directory, which several processes can share.
package workspacetest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Store stores workspaces in a directory.
type Store struct{ dir string }

// An Item is a file of a resource.
type Item struct {
	domarkx.File        // the zero Type stands for a regular file, the zero Mode for 0644 (0755 for a directory)
	Content      string // of a regular file, or the target of a symbolic link
}

// A Tree holds the files of a resource by their paths. Write adds the directories that it
// lacks.
type Tree map[string]Item

// New returns the store in a directory, which it creates if needed.
func New(dir string) (*Store, error) {
	for _, sub := range []string{"versions", "folders", "contents", "tips", "links"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	return &Store{dir}, nil
}

func (s *Store) put(kind string, v any) (string, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return "", err
	}
	sum := sha1.Sum(b.Bytes())
	id := hex.EncodeToString(sum[:])
	return id, os.WriteFile(filepath.Join(s.dir, kind, id), b.Bytes(), 0o600)
}

func (s *Store) get(kind, id string, v any) error {
	data, err := os.ReadFile(filepath.Join(s.dir, kind, filepath.Base(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", kind, id, domarkx.ErrNotFound)
	}
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

// stored is a version as it is stored. Resources holds pairs of a resource id and its
// version.
type stored struct {
	Workspace string
	Parents   []string
	Number    int
	Date      int64
	Resources [][2]string
}

// Write creates the next version of a workspace.
func (s *Store) Write(ctx context.Context, workspace string, resources map[string]Tree) (domarkx.Version, error) {
	v := domarkx.Version{Workspace: workspace, Number: 1, Date: 1_700_000_000}
	if tip, err := s.WorkspaceTip(ctx, workspace); err == nil {
		v.Parents, v.Number, v.Date = []string{tip.ID}, tip.Number+1, tip.Date+1
	}
	for id, tree := range resources {
		top, err := s.directory(tree, "")
		if err != nil {
			return v, err
		}
		v.Resources = append(v.Resources, domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: id, Type: "filesystem"}, Version: top})
	}
	slices.SortFunc(v.Resources, func(a, b domarkx.ResourceVersion) int { return strings.Compare(a.ID, b.ID) })
	kept := stored{Workspace: workspace, Parents: v.Parents, Number: v.Number, Date: v.Date}
	for _, r := range v.Resources {
		kept.Resources = append(kept.Resources, [2]string{r.ID, r.Version})
	}
	id, err := s.put("versions", kept)
	if err != nil {
		return v, err
	}
	v.ID = id
	return v, s.Point(workspace, id)
}

func (s *Store) directory(tree Tree, dir string) (string, error) {
	children := map[string]bool{}
	for p := range tree {
		if rest, ok := strings.CutPrefix(p, dir); ok && rest != "" {
			name, _, _ := strings.Cut(rest, "/")
			children[name] = true
		}
	}
	var files []domarkx.File
	for name := range children {
		p := dir + name
		item, ok := tree[p]
		f := item.File
		f.Name = name
		var err error
		switch {
		case !ok || f.Type == domarkx.Directory:
			f.Type, f.Mode = domarkx.Directory, 0o755
			f.ID, err = s.directory(tree, p+"/")
		case f.HardLink != "":
			target := tree[f.HardLink]
			f.Type, f.Mode, f.Size = domarkx.Regular, target.Mode, int64(len(target.Content))
			f.ID, err = s.put("contents", []byte(target.Content))
		case f.Type == 0 || f.Type == domarkx.Regular || f.Type == domarkx.Symlink:
			f.ID, err = s.put("contents", []byte(item.Content))
			if f.Type == 0 {
				f.Type = domarkx.Regular
			}
			if f.Type == domarkx.Regular {
				f.Size = int64(len(item.Content))
			}
		}
		if err != nil {
			return "", err
		}
		if f.Mode == 0 && f.Type == domarkx.Regular {
			f.Mode = 0o644
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b domarkx.File) int { return strings.Compare(a.Name, b.Name) })
	return s.put("folders", files)
}

func (s *Store) tip(name string) string {
	return filepath.Join(s.dir, "tips", strings.ReplaceAll(url.QueryEscape(name), ".", "%2E"))
}

// Point makes a version the newest one of a workspace. If id is "", it removes the
// workspace.
func (s *Store) Point(workspace, id string) error {
	if id == "" {
		return os.Remove(s.tip(workspace))
	}
	return os.WriteFile(s.tip(workspace), []byte(id), 0o600)
}

// Link links message k of a snapshot to a version.
func (s *Store) Link(snapshot string, k int, version string) error {
	return os.WriteFile(filepath.Join(s.dir, "links", fmt.Sprintf("%s-%d", snapshot, k)), []byte(version), 0o600)
}

// Linked returns the version that message k of a snapshot is linked to, or "".
func (s *Store) Linked(snapshot string, k int) (string, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, "links", fmt.Sprintf("%s-%d", snapshot, k)))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(data), err
}

// Workspaces returns the newest version of every workspace.
func (s *Store) Workspaces(ctx context.Context) ([]domarkx.Version, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "tips"))
	if err != nil {
		return nil, err
	}
	var all []domarkx.Version
	for _, e := range entries {
		name, err := url.QueryUnescape(e.Name())
		if err != nil {
			return nil, err
		}
		v, err := s.WorkspaceTip(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// WorkspaceTip returns the newest version of a workspace.
func (s *Store) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := os.ReadFile(s.tip(name))
	if errors.Is(err, fs.ErrNotExist) {
		return domarkx.Version{}, fmt.Errorf("workspace %q: %w", name, domarkx.ErrNotFound)
	}
	if err != nil {
		return domarkx.Version{}, err
	}
	v, err := s.Version(ctx, string(id))
	v.Workspace = name
	return v, err
}

// Version returns a version.
func (s *Store) Version(_ context.Context, id string) (domarkx.Version, error) {
	var kept stored
	err := s.get("versions", id, &kept)
	v := domarkx.Version{ID: id, Workspace: kept.Workspace, Parents: kept.Parents, Number: kept.Number, Date: kept.Date}
	for _, r := range kept.Resources {
		v.Resources = append(v.Resources, domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: r[0], Type: "filesystem"}, Version: r[1]})
	}
	return v, err
}

// Versions returns a version and its first-parent ancestors, newest first.
func (s *Store) Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error] {
	return func(yield func(domarkx.Version, error) bool) {
		for id != "" {
			v, err := s.Version(ctx, id)
			if !yield(v, err) || err != nil || len(v.Parents) == 0 {
				return
			}
			id = v.Parents[0]
		}
	}
}

// Top returns the top directory of a resource's version.
func (s *Store) Top(_ context.Context, version string) (domarkx.File, error) {
	return domarkx.File{Type: domarkx.Directory, Mode: 0o700, ID: version}, nil
}

// Directory returns the files of a directory.
func (s *Store) Directory(_ context.Context, id string) ([]domarkx.File, error) {
	var files []domarkx.File
	return files, s.get("folders", id, &files)
}

// Content opens the content of a file.
func (s *Store) Content(_ context.Context, id string) (domarkx.Content, error) {
	var data []byte
	err := s.get("contents", id, &data)
	return content{bytes.NewReader(data)}, err
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }
