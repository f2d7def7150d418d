package enginetest

import (
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
	ctx := c.T.Context()
	check := func(err error) {
		c.T.Helper()
		if err != nil {
			c.T.Fatal(err)
		}
	}
	w, err := c.Store.BeginVersion(ctx, "")
	check(err)
	for _, f := range append([]VersionFile{OtherFile("", domarkx.Directory, "")}, files...) {
		if f.File.Type == domarkx.Regular {
			f.File.ID, f.File.Size, err = w.Content(ctx, strings.NewReader(f.Data))
			check(err)
		}
		check(w.Add(ctx, f.Path, f.File))
	}
	id, err := w.Finish(ctx)
	check(err)
	author, committer, err := c.Env.Identity(ctx)
	check(err)
	commit := domarkx.VersionCommit{Operation: "call", Subject: "call", Call: call, Author: author, Committer: committer, Resources: []domarkx.ResourceVersion{{
		ResourceSpec: domarkx.ResourceSpec{ID: "notes", Type: "notes", Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "type", Value: jsonvalue.StringValue("notes")})}, Version: id}}}
	var v domarkx.Version
	check(c.Store.Update(ctx, "test", func(tx *gitstore.Tx) error {
		if tip, err := tx.WorkspaceTip(ctx, workspace); err == nil {
			commit.Parents = []string{tip.ID}
		}
		var err error
		if v, err = tx.CommitVersion(ctx, workspace, commit); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, workspace, v.ID)
	}))
	check(w.Settle())
	return v
}
