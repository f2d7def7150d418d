package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

type zeusRestoreCmd struct {
	WorkspaceMode string `enum:"original,current" default:"original" placeholder:"MODE" help:"Where windows of kitty go: original (the default), to the workspace of sway that they were on, or current."`
	IfRunning     string `enum:"error,skip,replace" default:"error" placeholder:"POLICY" help:"What to do when an agent runs already: error (the default), and nothing is started; skip it; or replace it."`
	SessionDir    string `placeholder:"DIR" help:"Where to write transcripts that are missing, instead of to their own place."`
	rowsOption[zeus.Row]

	Name string `arg:"" name:"NAME" help:"A session, NAME~2 or NAME@OID; or a snapshot in Zeus's directory, by its name or path."`
}

func (c *zeusRestoreCmd) Run(inv *invocation, opened managers) error {
	terminals, err := inv.terminals()
	if err != nil {
		return err
	}
	doc, info, err := c.find(inv, opened.sessions)
	if err != nil {
		return err
	}
	entries, working, err := zeus.Entries(doc)
	if err != nil {
		return inv.bad(fmt.Errorf("snapshot %s: %w", c.Name, err))
	}
	if len(entries) == 0 {
		return inv.bad(fmt.Errorf("snapshot %s has no agents of Zeus", c.Name))
	}
	request := zeus.RestoreRequest{Entries: entries, Workspace: c.WorkspaceMode, IfRunning: c.IfRunning, SessionDir: c.SessionDir}
	if info.ID != "" {
		request.Kept = func(ctx context.Context, digest string) (domarkx.Content, error) {
			return opened.sessions.Attachment(ctx, info.ID, digest)
		}
	}
	rows, warnings, err := terminals.Restore(inv.ctx, request)
	for _, warning := range warnings {
		inv.warn(fmt.Errorf("warning: %w", warning))
	}
	conflict, ok := errors.AsType[*zeus.ConflictError](err)
	if err != nil && !ok {
		return errors.Join(c.print(inv, rows), err)
	}
	if ok {
		printError(inv.err, conflict)
	}
	return c.printRestored(inv, rows, working)
}

func (c *zeusRestoreCmd) printRestored(inv *invocation, rows []zeus.Row, working []string) error {
	if err := c.print(inv, rows); err != nil {
		return err
	}
	failed := countAgents(rows, zeus.Failed)
	again, more := 0, ""
	for _, r := range rows {
		if slices.Contains(working, r.ID) && r.Status == zeus.Restored {
			again++
			more = fmt.Sprintf("; %d of those restored were at work", again)
		}
	}
	inv.say("%d restored, %d skipped, %d failed%s", countAgents(rows, zeus.Restored), countAgents(rows, zeus.Skipped), failed, more)
	if failed > 0 {
		return errNo
	}
	return nil
}

// find returns the snapshot that the user named: a session, or else a file of Zeus. For a file, the Info is zero.
func (c *zeusRestoreCmd) find(inv *invocation, sessions *engine.SessionManager) (*domarkx.Document, domarkx.Info, error) {
	revision, err := engine.ParseRevision(c.Name)
	if err == nil {
		if revision.Message >= 0 {
			return nil, domarkx.Info{}, usagef("%q is a message; a snapshot is restored as a whole", c.Name)
		}
		if err := inv.complete(&revision.Name); err != nil {
			return nil, domarkx.Info{}, err
		}
		var doc *domarkx.Document
		var info domarkx.Info
		if doc, info, err = sessions.Document(inv.ctx, revision); err == nil {
			return doc, info, nil
		}
	}
	if !errors.Is(err, domarkx.ErrNotFound) && !errors.Is(err, domarkx.ErrInvalid) {
		return nil, domarkx.Info{}, err
	}
	for _, path := range []string{inv.zeusFile(c.Name), inv.zeusFile(strings.TrimSuffix(c.Name, ".json")), c.Name} {
		if isPath := path == c.Name; isPath && !strings.HasSuffix(path, ".json") {
			continue
		}
		if stat, statErr := os.Stat(path); statErr != nil || !stat.Mode().IsRegular() {
			continue
		}
		doc, err := readSnapshot(path)
		if err == nil && !inv.opts.Quiet {
			for _, damage := range doc.Damage {
				printWarning(inv.err, damage, "")
			}
		}
		return doc, domarkx.Info{}, err
	}
	return nil, domarkx.Info{}, fmt.Errorf("%w; there is no such file in %s either; git domarkx zeus list shows what there is", err, filepath.Join(inv.zeusStateDir(), "snapshots"))
}

// zeusFile returns the path of a snapshot in Zeus's own directory.
func (inv *invocation) zeusFile(name string) string {
	return filepath.Join(inv.zeusStateDir(), "snapshots", name+".json")
}

// readSnapshot reads a snapshot file of Zeus.
func readSnapshot(path string) (*domarkx.Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return zeusformat.Codec().Decode(format.Source{Path: path, Data: data})
}
