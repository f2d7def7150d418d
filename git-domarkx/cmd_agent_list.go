package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

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
	if err := c.print(inv, list); err != nil {
		return err
	}
	return inv.bad(bad)
}

// hooksOf returns the text of the column with the scopes in which an agent's hooks are
// installed.
func hooksOf(a hooks.Agent, place agents.Place) string {
	if len(a.Hooks.Scopes) == 0 {
		return "none"
	}
	var scopes []string
	for _, scope := range a.Installed(place) {
		scopes = append(scopes, string(scope))
	}
	return cmp.Or(strings.Join(scopes, ","), "-")
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
