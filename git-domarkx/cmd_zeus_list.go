package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

type zeusListCmd struct {
	agentRows
}

// A listed is a snapshot that can be restored. doc reads it.
type listed struct {
	name string
	doc  func() (*domarkx.Document, error)
}

func (c *zeusListCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	all, err := c.find(inv, sessions)
	if err != nil {
		return err
	}
	var rows []zeus.Row
	var bad []error
	for _, s := range all {
		doc, err := s.doc()
		var entries []zeus.Entry
		if err == nil {
			entries, _, err = zeus.Entries(doc)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("snapshot %s: %w", s.name, err))
			continue
		}
		for _, e := range entries {
			rows = append(rows, zeus.Row{ID: e.ID, Kind: e.Kind, Status: zeus.Saved, Detail: s.name})
		}
	}
	if err := c.agentRows.print(inv, rows); err != nil {
		return err
	}
	return badInput(inv, bad)
}

func (c *zeusListCmd) find(inv *invocation, sessions *engine.SessionManager) ([]listed, error) {
	infos, err := inv.opened.picker().ImportedFrom(inv.ctx, zeusformat.Name)
	if err != nil {
		return nil, err
	}
	var all []listed
	for _, info := range infos {
		all = append(all, listed{info.Name, func() (*domarkx.Document, error) {
			doc, _, err := sessions.Document(inv.ctx, engine.Revision{Name: info.Name, Message: -1})
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
