package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// How long a command waits for the server of a mount: patience for commands that change
// or send sessions, reportPatience for those that only report.
const (
	patience       = 2 * time.Second
	reportPatience = time.Second
)

// settle stores what programs saved in mounts, including saves that a server acknowledged
// before it died. It returns the saves that it could not store in time.
func (inv *invocation) settle(source source) (pendingSaves, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	dir := draftsDir(git)
	waiting, err := drafts.ListWaiting(dir)
	if err != nil || len(waiting) == 0 || !writableRepository(git) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(inv.ctx, inv.patience)
	defer cancel()
	answers := inv.askServers(ctx)
	var failed error
	for {
		if failed == nil && slices.ContainsFunc(waiting, func(w drafts.Waiting) bool { return !w.Alive }) {
			failed = fusefs.TakeOver(inv.ctx, source.writable(dir))
		}
		if waiting, err = drafts.ListWaiting(dir); err != nil {
			return nil, err
		}
		waiting = slices.DeleteFunc(waiting, func(w drafts.Waiting) bool {
			pending, answered := answers[w.Owner]
			return w.Alive && answered && !slices.Contains(pending, w.Name)
		})
		// Waiting only helps for saves that no server has tried to store yet.
		untried := func(w drafts.Waiting) bool {
			_, answered := answers[w.Owner]
			return w.Alive && !answered || !w.Alive && failed == nil
		}
		if !slices.ContainsFunc(waiting, untried) || pause(ctx) != nil {
			break
		}
	}
	if err := context.Cause(inv.ctx); err != nil {
		return nil, err
	}
	pending := pendingSaves{}
	for _, w := range waiting {
		pending[w.Name] = &engine.PendingError{Name: w.Name, Reason: pendingReason(w, answers, failed)}
	}
	return pending, nil
}

// pendingReason says why a save is not in its session yet, with advice.
func pendingReason(w drafts.Waiting, answers map[int][]string, failed error) string {
	_, answered := answers[w.Owner]
	switch {
	case !w.Alive && failed != nil:
		return fmt.Sprintf("the server of the mount died, and %v", failed)
	case !w.Alive:
		return "the server of the mount died; try again"
	case answered:
		return "it could not be stored and is tried again; errors/ in the mount and .git/domarkx/mount.log say why"
	}
	return noAnswer(w.Owner)
}

// noAnswer describes a server that does not answer, with advice.
func noAnswer(pid int) string {
	if stopped(pid) {
		return fmt.Sprintf("process %d, which serves the mount, is stopped; continue it with kill -CONT %d", pid, pid)
	}
	return fmt.Sprintf("process %d, which serves the mount, does not answer", pid)
}

// askServers asks the servers of the repository's mounts to create snapshots of all
// saves. For each process that answered, it returns the sessions whose saves are still
// pending.
func (inv *invocation) askServers(ctx context.Context) map[int][]string {
	mounts, err := inv.mounts()
	if err != nil {
		return nil
	}
	answers := map[int][]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, m := range mounts {
		if m.dead {
			continue
		}
		all.Go(func() {
			a, err := m.ask(ctx, askSettle)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[m.pid] = a.Pending
		})
	}
	all.Wait()
	return answers
}
