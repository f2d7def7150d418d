package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
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

// agentsNamed returns the agents with these names; without names, all.
func agentsNamed(names []string) ([]agents.Agent, error) {
	if len(names) == 0 {
		return agents.All(), nil
	}
	return chosenAgents(names, "whose transcripts can be read")
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
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
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
