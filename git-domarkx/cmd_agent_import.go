package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

type agentImportCmd struct {
	jsonOption
	All    bool     `help:"Import the transcripts of all conversations on this machine, not only of those in this repository."`
	Agents []string `arg:"" optional:"" name:"AGENT" help:"The agents whose transcripts to import; all if none is named."`
}

func (agentImportCmd) row() any { return []importRow{} }

func (c *agentImportCmd) Run(inv *invocation) error {
	chosen, err := agentsNamed(c.Agents)
	if err != nil {
		return err
	}
	opened, err := inv.open()
	if err != nil {
		return err
	}
	git, err := inv.git()
	if err != nil {
		return err
	}
	recorded, err := inv.recorded(git)
	if err != nil {
		return err
	}
	var files []string
	var bad []error
	elsewhere, ignored := 0, 0
	for _, a := range chosen {
		all, here, err := inv.transcriptsHere(a, recorded.Trees)
		if err != nil {
			bad = append(bad, err)
		}
		if c.All {
			here = all
		}
		elsewhere += len(all) - len(here)
		kept := inv.withoutIgnored(a, recorded.Trees, here, recorded.Ignore)
		files, ignored = append(files, kept...), ignored+len(here)-len(kept)
	}
	if len(files) == 0 && !inv.opts.Quiet {
		fmt.Fprintln(inv.err, noneHere(elsewhere, ignored))
	}
	if len(files) == 0 {
		if err := printResults(inv, c.JSON, []importRow(nil)); err != nil {
			return err
		}
	} else if err := inv.importDocuments(opened, importer.Request{Paths: files, Recognized: true, Ignore: recorded.Ignore.Title}, c.JSON); err != nil {
		return err
	}
	return badInput(inv, bad)
}

// noneHere says why there is nothing to import: how many transcripts began elsewhere, and how many are ignored.
func noneHere(elsewhere, ignored int) string {
	switch {
	case ignored > 0:
		return fmt.Sprintf("no transcripts are imported: domarkx.agent.ignore names the directories of %d", ignored)
	case elsewhere > 0:
		return fmt.Sprintf("no transcripts began in this repository; %d began elsewhere, which --all imports", elsewhere)
	}
	return "no transcripts are on this machine where agents keep them; git domarkx import takes those in other places"
}
