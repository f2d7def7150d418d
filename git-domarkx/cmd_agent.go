package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

type agentCmd struct {
	List      agentListCmd      `cmd:"" help:"List the coding agents that have transcripts on this machine."`
	Import    agentImportCmd    `cmd:"" help:"Import the transcripts of conversations in this repository."`
	Resume    agentResumeCmd    `cmd:"" help:"Go on with a session in a coding agent."`
	Watch     agentWatchCmd     `cmd:"" help:"Record the conversations in this repository as they happen."`
	Install   agentInstallCmd   `cmd:"" help:"Record agents from now on: add hooks to their settings."`
	Uninstall agentUninstallCmd `cmd:"" help:"Remove the hooks, and record the agents no longer."`
	Hook      agentHookCmd      `cmd:"" help:"Notify the process that records; agents run it as a hook."`
	Pause     agentPauseCmd     `cmd:"" help:"Stop recording until watch goes on."`
}

// chosenAgents returns the agents with these names. what says what can be done with agents.
func chosenAgents(names []string, what string) ([]agents.Agent, error) {
	var chosen []agents.Agent
	for _, name := range names {
		a, ok := agents.ByName(name)
		if !ok {
			return nil, usagef("%q is not an agent %s; expected %s", name, what, strings.Join(agentNames(agents.All()), ", "))
		}
		chosen = append(chosen, a)
	}
	return chosen, nil
}

func agentNames(list []agents.Agent) []string {
	return mapped(list, func(a agents.Agent) string { return a.Name })
}

// transcriptsHere returns the transcripts of an agent: those of this repository, or all.
func (inv *invocation) transcriptsHere(a agents.Agent, trees []string) (all, here []string, err error) {
	all, err = a.Find(inv.ctx, inv.getenv)
	if err != nil {
		return all, nil, err
	}
	here, err = a.Here(inv.ctx, inv.getenv, all, trees)
	return all, here, err
}

// withoutIgnored returns the transcripts whose conversations did not begin in a directory that is ignored.
func (inv *invocation) withoutIgnored(a agents.Agent, trees, files []string, ignore *recording.Ignore) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		dir, ok := a.Began(inv.getenv, trees, file)
		return ok && ignore.Directory(dir)
	})
}

type agentImportCmd struct {
	rowsOption[importRow]
	All    bool     `help:"Import the transcripts of all conversations on this machine, not only of those in this repository."`
	Agents []string `arg:"" optional:"" name:"AGENT" help:"The agents whose transcripts to import; all if none is named."`
}

func (c *agentImportCmd) Run(inv *invocation, opened managers) error {
	chosen, err := chosenAgents(c.Agents, "whose transcripts can be read")
	if err != nil {
		return err
	}
	if len(c.Agents) == 0 {
		chosen = agents.All()
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

type agentListCmd struct{ rowsOption[installedAgentRow] }

type installedAgentRow struct {
	Agent     string `json:"agent" head:"AGENT" doc:"the name of the agent, and of the format of its transcripts"`
	Version   string `json:"version" head:"VERSION" show:",spare" doc:"the version that its program reports; - if it is not installed"`
	Directory string `json:"folder" head:"FOLDER" doc:"the directory in which it keeps its files"`
	Sessions  int    `json:"sessions" head:"SESSIONS" doc:"how many transcripts are there"`
	Here      int    `json:"here" head:"HERE" doc:"how many of them began in this repository"`
	Hooks     string `json:"hooks" head:"HOOKS" doc:"the scopes of its installed hooks: local, user, project; none if it needs no hooks, - if none are installed"`
	Watched   string `json:"watched" head:"WATCHED" doc:"yes if its conversations are being recorded; paused; stopped if they are to be recorded and no process does it; else no"`
}

// maxVersionTime is how long the command waits for the versions of all agents.
const maxVersionTime = 5 * time.Second

func (c *agentListCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	trees, err := git.WorkTrees(inv.ctx)
	if err != nil {
		return err
	}
	known := agents.All()
	place, dir, err := inv.settingsPlace()
	if err != nil {
		return err
	}
	settings, err := recording.ReadSettings(dir)
	if err != nil {
		return err
	}
	_, running := recording.Running(dir)
	limited, cancel := context.WithTimeout(inv.ctx, maxVersionTime)
	defer cancel()
	versions := agents.Versions(limited, known)
	var list []installedAgentRow
	var bad error
	for _, a := range known {
		all, here, err := inv.transcriptsHere(a, trees)
		bad = errors.Join(bad, err)
		list = append(list, installedAgentRow{Agent: a.Name, Directory: a.Home(inv.getenv), Sessions: len(all), Here: len(here),
			Hooks: hooksOf(hooks.Of(a), place), Watched: watched(settings, a.Name, running)})
	}
	for i, version := range versions() {
		list[i].Version = version
	}
	list = slices.DeleteFunc(list, func(r installedAgentRow) bool {
		_, err := os.Stat(r.Directory)
		return err != nil && r.Version == agents.NotInstalled
	})
	return c.printAll(inv, list, bad)
}

// hooksOf returns the text of the column with the scopes in which an agent's hooks are installed.
func hooksOf(a hooks.Agent, place agents.Place) string {
	if len(a.Hooks.Scopes) == 0 {
		return "none"
	}
	return cmp.Or(strings.Join(mapped(a.Installed(place), func(s agents.Scope) string { return string(s) }), ","), "-")
}

// watched returns the text of the column that shows whether an agent is being recorded.
func watched(settings recording.Settings, agent string, running bool) string {
	_, recorded := settings.Since(agent)
	switch {
	case !recorded:
		return "no"
	case !settings.Paused.IsZero():
		return "paused"
	case !running:
		return "stopped"
	}
	return "yes"
}
