package enginetest

import (
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore"
)

// A VersionFile is a file of a version. Data is the content of a regular file.
type VersionFile struct {
	Path string
	File domarkx.File
	Data string
}

// RegularFile returns a file that its owner can write.
func RegularFile(path, data string) VersionFile {
	return VersionFile{path, domarkx.File{Type: domarkx.Regular, Mode: 0o644}, data}
}

// OtherFile returns a file that is not regular. Target is that of a symbolic link.
func OtherFile(path string, kind domarkx.FileType, target string) VersionFile {
	return VersionFile{path, domarkx.File{Type: kind, Mode: 0o755, Target: target}, ""}
}

// Version commits the next version of a workspace with one resource, notes, which has these files.
// The record of the call that left it may be nil.
func (c *Clone) Version(workspace string, call *domarkx.CallRecord, files ...VersionFile) domarkx.Version {
	c.T.Helper()
	notes := domarkx.ResourceSpec{ID: "notes", Type: "notes", Config: jsonvalue.MustParse(`{"type": "notes"}`)}
	return c.commitVersion(workspace, notes, files, domarkx.VersionCommit{Operation: "call", Call: call})
}

// WorkTree is the configuration of a resource that has the files of the work tree.
const WorkTree = `{"type": "filesystem", "id": "files", "path": "."}`

// Committed commits a version of a workspace with one resource, after those in v.Parents or, if that is nil, after
// the newest one.
func (c *Clone) Committed(workspace, config string, files map[string]string, v domarkx.VersionCommit) domarkx.Version {
	c.T.Helper()
	var all []VersionFile
	added := map[string]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(files), inWalk) {
		for i := range name {
			if name[i] == '/' && !added[name[:i]] {
				added[name[:i]] = true
				all = append(all, OtherFile(name[:i], domarkx.Directory, ""))
			}
		}
		all = append(all, RegularFile(name, files[name]))
	}
	return c.commitVersion(workspace, domarkx.ResourceSpec{ID: "files", Type: "filesystem", Config: jsonvalue.MustParse(config)}, all, v)
}

func (c *Clone) commitVersion(workspace string, of domarkx.ResourceSpec, files []VersionFile, v domarkx.VersionCommit) domarkx.Version {
	c.T.Helper()
	ctx := c.T.Context()
	w, err := c.Store.BeginVersion(ctx, "")
	c.check(err)
	defer w.Abort()
	for _, f := range append([]VersionFile{OtherFile("", domarkx.Directory, "")}, files...) {
		if f.File.Type == domarkx.Regular {
			f.File.ID, f.File.Size, err = w.Content(ctx, strings.NewReader(f.Data))
			c.check(err)
		}
		c.check(w.Add(ctx, f.Path, f.File))
	}
	id, err := w.Finish(ctx)
	c.check(err)
	v.Author, v.Committer, err = c.Env.Identity(ctx)
	c.check(err)
	v.Subject, v.Resources = v.Operation, []domarkx.ResourceVersion{{ResourceSpec: of, Version: id}}
	var done domarkx.Version
	c.check(c.Store.Update(ctx, "test", func(tx *gitstore.Tx) error {
		if tip, err := tx.WorkspaceTip(ctx, workspace); err == nil && v.Parents == nil {
			v.Parents = []string{tip.ID}
		}
		var err error
		if done, err = tx.CommitVersion(ctx, workspace, v); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, workspace, done.ID)
	}))
	c.check(w.Settle())
	return done
}

// inWalk compares paths name by name, which is the order in which a version is walked.
func inWalk(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
