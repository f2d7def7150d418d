package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

type zeusCmd struct {
	Save    zeusSaveCmd    `cmd:"" help:"Save which agents are live, with their sessions."`
	List    zeusListCmd    `cmd:"" help:"List the agents that were saved."`
	Restore zeusRestoreCmd `cmd:"" help:"Start the agents of a snapshot again."`
}

type zeusListCmd struct {
	agentRows
}

// A listed is a snapshot that can be restored. doc reads it.
type listed struct {
	name string
	doc  func() (*domarkx.Document, error)
}

func (c *zeusListCmd) Run(inv *invocation, opened managers) error {
	all, err := c.find(inv, opened)
	if err != nil {
		return err
	}
	var rows []zeus.Row
	var bad error
	for _, s := range all {
		doc, err := s.doc()
		var entries []zeus.Entry
		if err == nil {
			entries, _, err = zeus.Entries(doc)
		}
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("snapshot %s: %w", s.name, err))
			continue
		}
		for _, e := range entries {
			rows = append(rows, zeus.Row{ID: e.ID, Kind: e.Kind, Status: zeus.Saved, Detail: s.name})
		}
	}
	return c.printAgents(inv, rows, bad)
}

func (c *zeusListCmd) find(inv *invocation, opened managers) ([]listed, error) {
	infos, err := opened.picker().ImportedFrom(inv.ctx, zeusformat.Name)
	if err != nil {
		return nil, err
	}
	var all []listed
	for _, info := range infos {
		all = append(all, listed{info.Name, func() (*domarkx.Document, error) {
			doc, _, err := opened.sessions.Document(inv.ctx, tipOf(info.Name))
			return doc, err
		}})
	}
	files, err := zeusFiles(inv.zeusStateDir())
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if !slices.ContainsFunc(infos, func(info domarkx.Info) bool { return info.Name == name }) {
			all = append(all, listed{name, func() (*domarkx.Document, error) { return readSnapshot(inv.zeusFile(name)) }})
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int { return cmp.Compare(b.name, a.name) })
	return all, nil
}
