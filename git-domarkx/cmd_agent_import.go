package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

type agentImportCmd struct {
	rowsOption[importRow]
	All    bool     `help:"Import the transcripts of all conversations on this machine, not only of those in this repository."`
	Agents []string `arg:"" optional:"" name:"AGENT" help:"The agents whose transcripts to import; all if none is named."`
}

func (c *agentImportCmd) Run(inv *invocation, opened managers) error {
	chosen, err := agentsNamed(c.Agents)
	if err != nil {
		return err
	}
	recorded, err := inv.recorded(opened.git)
	if err != nil {
		return err
	}
	var files []string
	var bad error
	elsewhere, ignored := 0, 0
	for _, a := range chosen {
		all, here, err := inv.transcriptsHere(a, recorded.Trees)
		bad = errors.Join(bad, err)
		if c.All {
			here = all
		}
		elsewhere += len(all) - len(here)
		kept := inv.withoutIgnored(a, recorded.Trees, here, recorded.Ignore)
		files, ignored = append(files, kept...), ignored+len(here)-len(kept)
	}
	if len(files) == 0 {
		inv.say("%s", noneHere(elsewhere, ignored))
		err = c.print(inv, nil)
	} else {
		err = inv.importDocuments(opened, importer.Request{Paths: files, Recognized: true, Ignore: recorded.Ignore.Title}, c.JSON)
	}
	if err != nil {
		return err
	}
	return inv.bad(bad)
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
