package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/hooks"
	"github.com/domarkx/domarkx/git-domarkx/recording"
	"github.com/domarkx/domarkx/git-domarkx/transcripts"
)

type agentListCmd struct{ jsonOption }

func (agentListCmd) row() any { return []installedAgentRow{} }

type installedAgentRow struct {
	Agent     string `json:"agent" head:"AGENT" doc:"the name of the agent, and of the format of its transcripts"`
	Version   string `json:"version" head:"VERSION" doc:"the version that its program reports; - if it is not installed"`
	Directory string `json:"folder" head:"FOLDER" doc:"the directory in which it keeps its files"`
	Sessions  int    `json:"sessions" head:"SESSIONS" doc:"how many transcripts are there"`
	Here      int    `json:"here" head:"HERE" doc:"how many of them began in this repository"`
	Hooks     string `json:"hooks" head:"HOOKS" doc:"the scopes of its installed hooks: local, user, project; none if it needs no hooks, - if none are installed"`
	Watched   string `json:"watched" head:"WATCHED" doc:"yes if its conversations are being recorded; paused; stopped if they are to be recorded and no process does it; else no"`
}

func (agentListCmd) Help() string {
	return `
Lists the coding agents that are installed or have transcripts on this machine. VERSION is what
the program itself reports, and - if it is not installed. HERE counts the conversations
that began in a work tree of this repository. HOOKS lists the scopes in which all hooks of git
domarkx agent install are installed, "none" for an agent that needs none, and "-" if they are
not. WATCHED is "yes" if the conversations in this repository are being recorded, "paused",
"stopped" if they are to be recorded and no process does it, or "no".

## Output

    AGENT  VERSION  FOLDER  SESSIONS  HERE  HOOKS  WATCHED
`
}

// ExitOne says what exit status 1 means.
func (agentListCmd) ExitOne() string {
	return "A directory could not be read; what could be read is listed."
}

// Run lists the agents.
func (c *agentListCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	trees, err := git.WorkTrees(inv.ctx)
	if err != nil {
		return err
	}
	known, err := agentsNamed(nil)
	if err != nil {
		return err
	}
	place, dir, err := inv.settingsPlace()
	if err != nil {
		return err
	}
	settings, err := recording.ReadSettings(dir)
	if err != nil {
		return err
	}
	_, running := recording.Running(dir)
	versions := agentVersions(inv.ctx, known)
	var rows []installedAgentRow
	var bad []error
	for i, a := range known {
		home := a.Dir(inv.getenv)
		if _, err := os.Stat(home); err != nil && versions[i] == notInstalled {
			continue
		}
		all, here, err := inv.transcriptsHere(a, trees)
		if err != nil {
			bad = append(bad, err)
		}
		rows = append(rows, installedAgentRow{a.Name, versions[i], home, len(all), len(here), hooksOf(a.Name, place), watched(settings, a.Name, running)})
	}
	if err := printResults(inv, c.JSON, rows); err != nil {
		return err
	}
	return badInput(inv, bad)
}

// hooksOf describes the installed hooks of an agent.
func hooksOf(name string, place hooks.Place) string {
	chosen, err := hookedAgents([]string{name})
	if err != nil || len(chosen[0].Scopes) == 0 {
		return "none"
	}
	var scopes []string
	for _, scope := range chosen[0].Installed(place) {
		scopes = append(scopes, string(scope))
	}
	return cmp.Or(strings.Join(scopes, ","), "-")
}

// watched says whether an agent is being recorded.
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

// notInstalled stands for the version of a program that is not installed.
const notInstalled = "-"

// agentVersions asks the agents' programs for their versions, all at once, because some need
// a second to start.
func agentVersions(ctx context.Context, all []transcripts.Agent) []string {
	versions := make([]string, len(all))
	number := regexp.MustCompile(`\d+(\.\d+)+([-+.][0-9A-Za-z]+)*`)
	var running sync.WaitGroup
	for i, a := range all {
		running.Go(func() {
			versions[i] = notInstalled
			path, err := exec.LookPath(a.Program)
			if err != nil {
				return
			}
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			cmd := exec.CommandContext(limited, path, "--version")
			cmd.WaitDelay = time.Second
			out, err := cmd.Output()
			versions[i] = "?"
			if found := number.Find(out); err == nil && found != nil {
				versions[i] = string(found)
			}
		})
	}
	running.Wait()
	return versions
}
