package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

type agentInstallCmd struct {
	settingsOption
	Scope  agents.Scope `enum:",local,user,project" default:"" placeholder:"SCOPE" help:"For whom: local (you, in this repository), user (you) or project (all who have the repository); by default the first that the agent has."`
	MCP    bool         `name:"mcp" help:"Also register git domarkx mcp, with which the agent can search and read sessions."`
	Agents []string     `arg:"" name:"AGENT" help:"The agents to record."`
}

// unhooked returns the names of the agents that need no hooks.
func unhooked() string {
	return inSentence(agentNames(slices.DeleteFunc(agents.All(), func(a agents.Agent) bool { return len(a.Hooks.Scopes) > 0 })), "and")
}

// settingsTable returns a table of the settings files that can have hooks.
func settingsTable() string {
	var b strings.Builder
	place := agents.Place{Trees: []string{""}, Environ: func(name string) string { return map[string]string{"HOME": "~"}[name] }}
	for _, a := range agents.All() {
		name := a.Name
		for _, scope := range a.Hooks.Scopes {
			file := filepath.ToSlash(a.Hooks.Files(scope, place)[0])
			if scope == agents.Local {
				file += " in each work tree"
			}
			fmt.Fprintf(&b, "    %-12s %-8s %s\n", name, scope, file)
			name = ""
		}
	}
	return b.String()
}

// settingsOption holds the options of commands that change the settings of agents.
type settingsOption struct {
	rowsOption[settingsRow]
	DryRun bool `name:"dry-run" help:"Print what would be changed, as a diff, and change nothing."`
}

type settingsRow struct {
	Agent  string `json:"agent" head:"AGENT" doc:"the name of the agent"`
	File   string `json:"file" head:"FILE" doc:"the settings file; - if the agent needs none"`
	Change string `json:"change" head:"CHANGE" doc:"changed or unchanged; with --dry-run what it would be"`
}

func (c *agentInstallCmd) Run(inv *invocation) error {
	chosen, err := hookedAgents(c.Agents)
	if err != nil {
		return err
	}
	for _, a := range chosen {
		if _, err := a.ScopeOf(c.Scope); err != nil {
			return usagef("%s", err)
		}
	}
	place, dir, err := inv.settingsPlace()
	if err != nil {
		return err
	}
	if len(place.Trees) == 0 {
		return errors.New("no agent works in this repository: it has no work tree; install in a clone, or add one (git worktree add)")
	}
	request := hooks.Request{Scope: c.Scope, MCP: c.MCP, Place: place}
	var list []settingsRow
	var bad error
	var installed []hooks.Agent
	for _, a := range chosen {
		if c.Scope != agents.Project { // settings of a project are also for other machines, with other versions
			a = a.At(func() string {
				limited, cancel := context.WithTimeout(inv.ctx, maxVersionTime)
				defer cancel()
				return agents.Versions(limited, []agents.Agent{a.Agent})()[0]
			})
		}
		more, err := c.change(inv, a, dir, func(r *hooks.Record) ([]hooks.Change, error) { return a.Install(request, r) }, (*hooks.Record).Apply)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		list, installed = append(list, more...), append(installed, a)
		if scope, _ := a.ScopeOf(c.Scope); scope == agents.Local && !c.DryRun {
			if err := inv.excludeSettings(place, more); err != nil {
				return err
			}
		}
	}
	if c.DryRun {
		return c.endDryRun(inv, list, bad)
	}
	if len(installed) > 0 {
		err = recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
			for _, a := range installed {
				if _, ok := s.Agents[a.Name]; !ok {
					s.Agents[a.Name] = time.Now().UTC().Truncate(time.Second)
				}
			}
			s.Paused = time.Time{}
		})
		if err == nil {
			err = inv.startWatcher(dir)
		}
		if err != nil {
			return err
		}
	}
	if err := c.print(inv, list); err != nil {
		return err
	}
	for _, a := range installed {
		if a.Hooks.Review != "" && !a.Reviewed(place) {
			inv.say("%s", a.Hooks.Review)
		}
		if c.MCP && a.Servers == nil {
			inv.say("%s has no MCP servers", a.Name)
		}
	}
	return inv.bad(bad)
}

type agentUninstallCmd struct {
	settingsOption
	Agents []string `arg:"" name:"AGENT" help:"The agents whose hooks to remove."`
}

func (c *agentUninstallCmd) Run(inv *invocation) error {
	chosen, err := hookedAgents(c.Agents)
	if err != nil {
		return err
	}
	place, dir, err := inv.settingsPlace()
	if err != nil {
		return err
	}
	var list []settingsRow
	var bad error
	for _, a := range chosen {
		more, err := c.change(inv, a, dir, func(r *hooks.Record) ([]hooks.Change, error) { return a.Uninstall(place, r) }, (*hooks.Record).Undo)
		bad = errors.Join(bad, err)
		list = append(list, more...)
	}
	if c.DryRun {
		return c.endDryRun(inv, list, bad)
	}
	if err := inv.includeSettings(place, list); err != nil {
		return err
	}
	settings, err := recording.ReadSettings(dir)
	if err == nil && len(settings.Agents) > 0 {
		err = recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
			for _, a := range chosen {
				delete(s.Agents, a.Name)
			}
		})
	}
	if err != nil {
		return err
	}
	if !settings.All.IsZero() && settings.Paused.IsZero() {
		inv.say("all agents are still recorded, because of git domarkx agent watch; git domarkx agent pause ends that")
	}
	return c.printAll(inv, list, bad)
}

func hookedAgents(names []string) ([]hooks.Agent, error) {
	chosen, err := chosenAgents(names, "that can be recorded")
	return mapped(chosen, hooks.Of), err
}

// settingsPlace returns where the agents of this repository have their settings, and the
// directory in which recording has its state.
func (inv *invocation) settingsPlace() (agents.Place, string, error) {
	git, err := inv.git()
	if err != nil {
		return agents.Place{}, "", err
	}
	trees, err := git.WorkTrees(inv.ctx)
	if err != nil {
		return agents.Place{}, "", err
	}
	trees = slices.DeleteFunc(trees, func(tree string) bool { return !isDirectory(tree) })
	program, err := stableProgram()
	return agents.Place{Environ: inv.getenv, Trees: trees, Program: program}, recording.Dir(git.CommonDir), err
}

// stableProgram returns a path of this program that stays valid when the program is
// updated: the one in PATH, if that is this program.
func stableProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	found, err := exec.LookPath("git-domarkx")
	if err != nil || !filepath.IsAbs(found) {
		return self, nil
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(found)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return found, nil
	}
	return self, nil
}

// change changes the settings of an agent; in a dry run it only prints the changes as a diff,
// without --json. If another program changes a file at the same time, it plans the changes again.
func (o settingsOption) change(inv *invocation, a hooks.Agent, dir string, plan func(*hooks.Record) ([]hooks.Change, error), apply func(*hooks.Record, hooks.Change) error) ([]settingsRow, error) {
	const tries = 5
	if !o.DryRun { // another process would lose what this one notes of the former contents
		lock, err := recording.LockSettings(inv.ctx, dir)
		if err != nil {
			return nil, err
		}
		defer lock.Close()
	}
	var changed []string
	for try := 1; ; try++ {
		record, err := hooks.OpenRecord(dir)
		if err != nil {
			return nil, err
		}
		changes, err := plan(record)
		if err != nil {
			return nil, err
		}
		if o.DryRun && !o.JSON {
			for _, c := range changes {
				if err := writeDiff(inv, diff.Diff(c.File.Path, c.File.Data, c.File.Path, c.After)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}
		for _, c := range changes {
			if !o.DryRun {
				err = apply(record, c)
			}
			if err != nil {
				break
			}
			if c.Changes() {
				changed = append(changed, c.File.Path)
			}
		}
		if errors.Is(err, hooks.ErrChanged) && try < tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return settingsRows(a, changes, changed), nil
	}
}

// endDryRun prints the changes that a dry run did not print as diffs.
func (o settingsOption) endDryRun(inv *invocation, list []settingsRow, bad error) error {
	var err error
	if o.JSON {
		err = o.print(inv, list)
	}
	return errors.Join(err, inv.bad(bad))
}

// settingsRows returns the rows of an agent's settings files.
func settingsRows(a hooks.Agent, changes []hooks.Change, changed []string) []settingsRow {
	var list []settingsRow
	for _, c := range changes {
		row := settingsRow{a.Name, c.File.Path, "unchanged"}
		if slices.Contains(changed, c.File.Path) {
			row.Change = "changed"
		} else if c.File.Missing {
			continue
		}
		list = append(list, row)
	}
	if len(list) == 0 {
		list = append(list, settingsRow{a.Name, "-", "unchanged"})
	}
	return list
}
