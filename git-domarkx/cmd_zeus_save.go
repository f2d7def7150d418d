package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type zeusSaveCmd struct {
	Name  string `placeholder:"NAME" help:"What the snapshot is called, behind the time; snapshot- and the time unless given."`
	Close bool   `help:"Close the agents once they are saved."`

	rowsOption[zeus.Row]
}

func (c *zeusSaveCmd) Run(inv *invocation, opened managers) error {
	terminals, err := inv.terminals()
	if err != nil {
		return err
	}
	live, err := terminals.Discover(inv.ctx)
	if err != nil {
		return err
	}
	for _, warning := range live.Warnings {
		inv.warn(fmt.Errorf("warning: %w", warning))
	}
	now := time.Now().UTC()
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	snapshot, rows, err := terminals.Snapshot(live, hostname, now)
	if errors.Is(err, zeus.ErrNoAgents) {
		printError(inv.err, err)
		if c.JSON {
			return errors.Join(c.print(inv, nil), errNo)
		}
		return errNo
	}
	if err != nil {
		return err
	}
	if snapshot == nil {
		printError(inv.err, fmt.Errorf("nothing was saved: %d of %d agents could not be restored from what is known of them", countAgents(rows, zeus.Failed), len(rows)))
		return errors.Join(c.print(inv, rows), errNo)
	}
	name, err := c.store(inv, opened, snapshot, now)
	if err != nil {
		return err
	}
	if err := c.print(inv, rows); err != nil {
		return err
	}
	inv.say("%d saved, as %s", len(rows), name)
	if c.Close {
		for _, a := range live.Agents {
			if err := terminals.Close(inv.ctx, a); err != nil {
				inv.warn(fmt.Errorf("warning: %w", err))
			}
		}
	}
	return nil
}

var notInSlug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9._-]+`) })

// slug returns a snapshot's name in the form that Zeus uses in file names.
func slug(name string) string {
	s := cmp.Or(strings.Trim(notInSlug().ReplaceAllString(strings.TrimSpace(name), "-"), "-._"), "snapshot")
	return s[:min(len(s), 150)]
}

// maxSameName is how many snapshots can have the same name and second.
const maxSameName = 1000

// store saves a snapshot under one name, which it returns, as a session and as a file in Zeus's directory. It writes the file
// first, because a file can be removed without a trace. If the program is killed after that, the file is a snapshot like one that
// Zeus saved itself.
func (c *zeusSaveCmd) store(inv *invocation, opened managers, snapshot []byte, now time.Time) (string, error) {
	name := cmp.Or(c.Name, "snapshot-"+now.Format("20060102-150405"))
	base := refname.Map(now.Format("20060102T150405Z") + "-" + slug(name))
	for n := range maxSameName {
		name := base
		if n > 0 {
			name = fmt.Sprintf("%s-%d", base, n) // as Zeus numbers them
		}
		there, err := opened.store.TipOrNone(inv.ctx, name)
		if err != nil {
			return "", err
		}
		if there.ID != "" {
			continue
		}
		path := inv.zeusFile(name)
		err = zeus.WriteNew(path, bytes.NewReader(snapshot))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("nothing was saved: writing the snapshot for Zeus: %w", err)
		}
		taken, err := importSnapshot(inv, opened.imports, name, snapshot)
		if err == nil && !taken {
			return name, nil
		}
		if err != nil {
			// The session may have been stored before the error occurred.
			if there, _ := opened.store.TipOrNone(context.WithoutCancel(inv.ctx), name); there.ID != "" {
				inv.warn(fmt.Errorf("warning: %w", err))
				return name, nil
			}
		}
		if undone := atomicfile.Remove(path); undone != nil {
			return "", errors.Join(err, fmt.Errorf("no session was saved, but %w", undone))
		}
		if err != nil {
			return "", fmt.Errorf("nothing was saved: %w", err)
		}
	}
	return "", fmt.Errorf("the name %s: %w, %d times", base, domarkx.ErrExists, maxSameName)
}

// importSnapshot imports a snapshot as a session. It reports whether the name was already taken.
func importSnapshot(inv *invocation, imports *importer.Manager, name string, snapshot []byte) (taken bool, err error) {
	result, err := imports.Import(inv.ctx, importer.Request{Paths: []string{"-"}, As: name, Format: zeusformat.Name, Stdin: bytes.NewReader(snapshot)})
	if err != nil {
		return false, err
	}
	if err := errors.Join(result.Bad...); err != nil {
		if errors.Is(err, domarkx.ErrExists) {
			return true, nil
		}
		return false, err
	}
	if !inv.opts.Quiet {
		printWarnings(inv.err, result.Warnings)
	}
	return false, nil
}
