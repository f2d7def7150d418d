package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type exportCmd struct {
	Format   string `required:"" placeholder:"F" help:"md or json."`
	Output   string `short:"o" placeholder:"PATH" help:"Write to a file; it is replaced only when all is written."`
	Revision string `arg:"" name:"NAME" help:"A session, NAME~2 or NAME@OID."`
}

func (exportCmd) Help() string {
	return `
Writes a session in a format. While a session is as it was imported, exporting it in the
format that it came in gives back the original bytes.
`
}

// Run writes the session.
func (c *exportCmd) Run(inv *invocation) error {
	if err := checkFormat(c.Format); err != nil {
		return err
	}
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	inv.mentionDrafts(revision.Name)
	if c.Output == "" || c.Output == "-" {
		w := inv.out.document()
		if err := sessions.Export(inv.ctx, revision, c.Format, w); err != nil {
			return err
		}
		return w.Close()
	}
	return replaceFile(c.Output, func(w io.Writer) error {
		return sessions.Export(inv.ctx, revision, c.Format, w)
	})
}

// replaceFile writes a file that has either its old content or all of the new.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".git-domarkx-*")
	if err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	defer os.Remove(f.Name())
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	err = write(f)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}
