package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Renamer renames a session with all that belongs to it.
type Renamer interface {
	Rename(ctx context.Context, from, to string) (domarkx.Info, error)
}

// RenamesSessions sets what renames the session of a sub-agent that was imported before its parent.
func (m *Manager) RenamesSessions(r Renamer) { m.renamer = r }

// waiting is the key of the record of sub-agents whose parents are not imported yet. Each has a branch of this key, recorded
// with the name that the import gave its session as the digest: once the session has another name, nothing waits any more.
const waiting = "sub-agents"

// waits records that a new session is that of a sub-agent whose parent is not imported.
func (imp *importer) waits(in input, doc *domarkx.Document, name, snapshot string) {
	if in.isFork || in.as != "" || in.codec.Identify == nil {
		return
	}
	id := in.codec.Identify(doc.Header)
	if id.Parent == "" || id.ID == "" {
		return
	}
	parent := in.codec.Name + ":" + id.Parent
	if _, ok := imp.here[imp.sources.Get(parent).Session]; ok {
		return
	}
	branch := "." + strings.Join([]string{parent, id.Suffix, id.ID}, "\t")
	imp.sources.Set(sources.BranchKey(waiting, branch), sources.Source{Session: name, Snapshot: snapshot, Digest: name}, sources.Source{})
}

// forgetJoined removes the records of sub-agents that have another name now, or no session.
func (imp *importer) forgetJoined() {
	for _, branch := range imp.sources.Branches(waiting) {
		key := sources.BranchKey(waiting, branch)
		child := imp.sources.Get(key)
		if _, ok := imp.here[child.Session]; !ok || child.Session != child.Digest {
			imp.sources.Remove(key)
		}
	}
}

// joinSubAgents gives the sessions of sub-agents that were imported before their parents the names that follow from
// those of the parents, so that the order of imports makes no difference. Their own branches and sub-agents follow.
func (m *Manager) joinSubAgents(ctx context.Context, result *Result) error {
	for tried := map[string]bool{}; m.renamer != nil; {
		renamings, err := m.nextSubAgent(ctx, tried)
		if err != nil || len(renamings) == 0 {
			return err
		}
		tried[renamings[0].from] = true
		for _, r := range renamings {
			info, err := m.renamer.Rename(ctx, r.from, r.to)
			if err != nil {
				result.Warnings = append(result.Warnings, fmt.Errorf("renaming session %q of a sub-agent to %q: %w", r.from, r.to, err))
				break
			}
			result.renamed(r.from, info)
		}
	}
	return nil
}

// A renaming is a new name for a session.
type renaming struct{ from, to string }

// nextSubAgent returns the renamings that join a sub-agent to its parent. tried holds the sub-agents to leave out.
func (m *Manager) nextSubAgent(ctx context.Context, tried map[string]bool) ([]renaming, error) {
	record := sources.Open(m.env.StateDir)
	var here map[string]domarkx.Info
	for _, branch := range record.Branches(waiting) {
		child := record.Get(sources.BranchKey(waiting, branch))
		parts := strings.Split(branch[1:], "\t")
		parent := record.Get(parts[0]).Session
		if child.Session != child.Digest || tried[child.Session] || parent == "" || len(parts) < 3 {
			continue
		}
		if here == nil {
			var err error
			if here, _, err = m.infos(ctx); err != nil {
				return nil, err
			}
		}
		if _, ok := here[child.Session]; !ok {
			continue
		}
		if _, ok := here[parent]; ok {
			return renamings(here, child.Session, parent+parts[1]), nil
		}
	}
	return nil, nil
}

// renamings returns the renamings of a session and of all sessions that are named after it. If the name is taken, they
// have a number.
func renamings(here map[string]domarkx.Info, from, to string) []renaming {
	wanted := refname.Map(to)
	to = wanted
	for n := 2; ; n++ {
		if _, taken := here[to]; !taken {
			break
		}
		to = fmt.Sprintf("%s-%d", wanted, n)
	}
	all := []renaming{{from, to}}
	for name := range here {
		if rest, ok := strings.CutPrefix(name, from+"."); ok && (strings.HasPrefix(rest, "agent-") || strings.HasPrefix(rest, "fork-")) {
			all = append(all, renaming{name, to + "." + rest})
		}
	}
	slices.SortFunc(all, func(a, b renaming) int { return strings.Compare(a.from, b.from) })
	return all
}
