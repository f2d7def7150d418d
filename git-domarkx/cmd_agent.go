package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/agents/transcripts"
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

func (agentCmd) Help() string {
	return `
Coding agents keep a transcript of each conversation on this machine, and most of them delete
it after some weeks. These commands find the transcripts and keep them as sessions.

A conversation belongs to the repository around the directory in which it began.
`
}

// agentsNamed returns the agents with these names. Without names it returns all whose
// transcripts can be read.
func agentsNamed(names []string) ([]transcripts.Agent, error) {
	known := slices.DeleteFunc(transcripts.Agents(), func(a transcripts.Agent) bool { return checkFormat(a.Name) != nil })
	if len(names) == 0 {
		return known, nil
	}
	var all []string
	for _, a := range known {
		all = append(all, a.Name)
	}
	var chosen []transcripts.Agent
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return nil, usagef("%q is not an agent whose transcripts can be read; expected %s", name, strings.Join(all, ", "))
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

// transcriptsHere returns the transcripts of an agent: those of this repository, or all.
func (inv *invocation) transcriptsHere(a transcripts.Agent, trees []string) (all, here []string, err error) {
	all, err = a.Find(inv.ctx, inv.getenv)
	if err != nil {
		return all, nil, err
	}
	here, err = a.Here(inv.ctx, inv.getenv, all, trees)
	return all, here, err
}

// withoutIgnored returns the transcripts whose conversations did not begin in a directory that is ignored.
func (inv *invocation) withoutIgnored(a transcripts.Agent, trees, files []string, ignore *recording.Ignore) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		dir, ok := a.Began(inv.getenv, trees, file)
		return ok && ignore.Directory(dir)
	})
}
