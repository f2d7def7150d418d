package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

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

// agentRows is the options of commands that print the outcome for each agent.
type agentRows struct{ rowsOption[agentRow] }

type agentRow struct {
	AgentID string `json:"agent_id" head:"AGENT_ID" doc:"the id of the agent"`
	Kind    string `json:"kind" head:"KIND" doc:"what it runs in: tmux or kitty"`
	Status  string `json:"status" head:"STATUS" doc:"saved, restored, skipped or failed"`
	Detail  string `json:"detail" head:"DETAIL" doc:"the snapshot, or what went wrong"`
}

func (a agentRows) printAgents(inv *invocation, list []zeus.Row, bad ...error) error {
	return a.printAll(inv, mapped(list, func(r zeus.Row) agentRow { return agentRow{r.ID, r.Kind, string(r.Status), r.Detail} }), bad...)
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
