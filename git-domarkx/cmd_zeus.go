package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

type zeusCmd struct {
	Save    zeusSaveCmd    `cmd:"" help:"Save which agents are live, with their sessions."`
	List    zeusListCmd    `cmd:"" help:"List the agents that were saved."`
	Restore zeusRestoreCmd `cmd:"" help:"Start the agents of a snapshot again."`
}

type zeusListCmd struct{ rowsOption[zeus.Row] }

func (c *zeusListCmd) Run(inv *invocation, opened managers) error {
	infos, err := opened.picker().ImportedFrom(inv.ctx, zeusformat.Name)
	if err != nil {
		return err
	}
	files, err := zeusFiles(inv.zeusStateDir())
	if err != nil {
		return err
	}
	sessions := mapped(infos, nameOf)
	names := slices.Concat(sessions, files)
	slices.Sort(names)
	var rows []zeus.Row
	var bad error
	for _, name := range slices.Backward(slices.Compact(names)) {
		var doc *domarkx.Document
		if slices.Contains(sessions, name) {
			doc, _, err = opened.sessions.Document(inv.ctx, tipOf(name))
		} else {
			doc, err = readSnapshot(inv.zeusFile(name))
		}
		var entries []zeus.Entry
		if err == nil {
			entries, _, err = zeus.Entries(doc)
		}
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("snapshot %s: %w", name, err))
			continue
		}
		for _, e := range entries {
			rows = append(rows, zeus.Row{ID: e.ID, Kind: e.Kind, Status: zeus.Saved, Detail: name})
		}
	}
	return c.printAll(inv, rows, bad)
}

// terminals returns access to the agents of Zeus, as the user has configured it.
func (inv *invocation) terminals() (*zeus.Terminals, error) {
	settings, err := inv.settings()
	if err != nil {
		return nil, err
	}
	home := inv.getenv("HOME")
	t := &zeus.Terminals{Getenv: inv.getenv, Now: time.Now, Agent: "pi", StateDirs: []string{inv.zeusStateDir()}}
	if dir := filepath.Join(home, ".zeus"); home != "" && !slices.Contains(t.StateDirs, dir) {
		t.StateDirs = append(t.StateDirs, dir)
	}
	t.Kitty = settings.GetAll("domarkx.zeus.kitty")
	if agent, ok := settings.Get("domarkx.zeus.agentCommand"); ok && strings.TrimSpace(agent) != "" {
		t.Agent = agent
	}
	switch server, _ := settings.Get("domarkx.zeus.tmux"); {
	case strings.Contains(server, "/"):
		t.Tmux = []string{"-S", server}
	case server != "":
		t.Tmux = []string{"-L", server}
	}
	return t, nil
}

// zeusStateDir returns the directory of Zeus's state.
func (inv *invocation) zeusStateDir() string {
	configured, _ := inv.config("domarkx.zeus.stateDir")
	return zeus.StateDir(inv.getenv, configured)
}

// zeusFiles returns the names, without extension, of the snapshots in Zeus's own directory.
func zeusFiles(stateDir string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(stateDir, "snapshots"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".json"); ok && f.Type().IsRegular() && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, err
}

// countAgents returns how many rows have a status.
func countAgents(rows []zeus.Row, status zeus.Status) int {
	n := 0
	for _, r := range rows {
		if r.Status == status {
			n++
		}
	}
	return n
}
