//go:build unix

package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// Workspaces stores workspaces.
type Workspaces struct{ directory }

// An Item is a file of a resource.
type Item struct {
	domarkx.File        // the zero Type stands for a regular file, the zero Mode for 0644 (0755 for a directory)
	Content      string // of a regular file, or the target of a symbolic link
}

// A Tree holds the files of a resource by their paths. Write adds the directories that it
// lacks.
type Tree map[string]Item

// NewWorkspaces returns the store in a directory, which it creates if needed.
func NewWorkspaces(dir string) (*Workspaces, error) {
	d, err := create(dir, "versions", "folders", "contents", "tips", "links")
	return &Workspaces{d}, err
}

// A stored version has pairs of a resource id and its version.
type stored struct {
	Workspace string
	Parents   []string
	Number    int
	Date      int64
	Resources [][2]string
}

// Write creates the next version of a workspace.
func (s *Workspaces) Write(ctx context.Context, workspace string, resources map[string]Tree) (domarkx.Version, error) {
	v := stored{Workspace: workspace, Number: 1, Date: 1_700_000_000}
	if tip, err := s.WorkspaceTip(ctx, workspace); err == nil {
		v.Parents, v.Number, v.Date = []string{tip.ID}, tip.Number+1, tip.Date+1
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		top, err := s.folder(resources[id], "")
		if err != nil {
			return domarkx.Version{}, err
		}
		v.Resources = append(v.Resources, [2]string{id, top})
	}
	id, err := s.put("versions", v)
	if err != nil {
		return domarkx.Version{}, err
	}
	if err := s.Point(workspace, id); err != nil {
		return domarkx.Version{}, err
	}
	return s.Version(ctx, id)
}

func (s *Workspaces) folder(tree Tree, dir string) (string, error) {
	var files []domarkx.File
	for _, name := range workspaces.Components(dir, slices.Collect(maps.Keys(tree))) {
		p := workspaces.Below(dir) + name
		item, ok := tree[p]
		f := item.File
		f.Name = name
		var err error
		switch {
		case !ok || f.Type == domarkx.Directory:
			f.Type, f.Mode = domarkx.Directory, 0o755
			f.ID, err = s.folder(tree, p)
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
	return s.put("folders", files)
}

// Point makes a version the newest one of a workspace. If id is "", it removes the
// workspace.
func (s *Workspaces) Point(workspace, id string) error {
	if id == "" {
		return os.Remove(s.path("tips", workspace))
	}
	return s.set("tips", workspace, id)
}

func link(snapshot string, k int) string { return fmt.Sprintf("%s-%d", snapshot, k) }

// Link links message k of a snapshot to a version.
func (s *Workspaces) Link(snapshot string, k int, version string) error {
	return s.set("links", link(snapshot, k), version)
}

// Linked returns the version that message k of a snapshot is linked to, or "".
func (s *Workspaces) Linked(snapshot string, k int) (string, error) {
	version, err := s.text("links", link(snapshot, k))
	if errors.Is(err, domarkx.ErrNotFound) {
		err = nil
	}
	return version, err
}

// Workspaces returns the newest version of every workspace.
func (s *Workspaces) Workspaces(ctx context.Context) ([]domarkx.Version, error) {
	names, err := s.names("tips")
	var all []domarkx.Version
	for _, name := range names {
		v, err := s.WorkspaceTip(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, err
}

// WorkspaceTip returns the newest version of a workspace.
func (s *Workspaces) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := s.text("tips", name)
	if err != nil {
		return domarkx.Version{}, err
	}
	v, err := s.Version(ctx, id)
	v.Workspace = name
	return v, err
}

// Version returns a version.
func (s *Workspaces) Version(_ context.Context, id string) (domarkx.Version, error) {
	var kept stored
	err := s.get("versions", id, &kept)
	v := domarkx.Version{ID: id, Workspace: kept.Workspace, Parents: kept.Parents, Number: kept.Number, Date: kept.Date}
	for _, r := range kept.Resources {
		v.Resources = append(v.Resources, domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: r[0], Type: "filesystem"}, Version: r[1]})
	}
	return v, err
}

// Versions returns a version and its first-parent ancestors, newest first.
func (s *Workspaces) Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error] {
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
func (s *Workspaces) Top(_ context.Context, version string) (domarkx.File, error) {
	return domarkx.File{Type: domarkx.Directory, Mode: 0o700, ID: version}, nil
}

// Directory returns the files of a directory.
func (s *Workspaces) Directory(_ context.Context, id string) ([]domarkx.File, error) {
	var files []domarkx.File
	return files, s.get("folders", id, &files)
}

// Content opens the content of a file.
func (s *Workspaces) Content(_ context.Context, id string) (domarkx.Content, error) {
	var data []byte
	err := s.get("contents", id, &data)
	return content{bytes.NewReader(data)}, err
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }
