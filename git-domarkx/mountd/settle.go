package mountd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// How long a command waits for the servers of mounts: Patience if it changes or sends
// sessions, ReportPatience if it only reports.
const (
	Patience       = 2 * time.Second
	ReportPatience = time.Second
)

// Settle creates snapshots of what programs saved in mounts, including saves that a server acknowledged before it died. It waits
// at most patience. It returns the sessions whose saves are not stored then, each with the reason.
func (m *Mounts) Settle(ctx context.Context, sessions Sessions, patience time.Duration) (map[string]string, error) {
	dir := DraftsDir(m.Git)
	waiting, err := drafts.ListWaiting(dir)
	if err != nil || len(waiting) == 0 || !writableRepository(m.Git) {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := m.askServers(soon)
	var failed error
	for {
		if failed == nil && slices.ContainsFunc(waiting, func(w drafts.Waiting) bool { return !w.Alive }) {
			failed = fusefs.TakeOver(ctx, sessions.writable(dir))
		}
		if waiting, err = drafts.ListWaiting(dir); err != nil {
			return nil, err
		}
		waiting = slices.DeleteFunc(waiting, func(w drafts.Waiting) bool {
			pending, answered := answers[w.Owner]
			return w.Alive && answered && !slices.Contains(pending, w.Name)
		})
		// Waiting helps only for saves that no server has tried to store yet.
		untried := func(w drafts.Waiting) bool {
			_, answered := answers[w.Owner]
			return w.Alive && !answered || !w.Alive && failed == nil
		}
		if !slices.ContainsFunc(waiting, untried) || pause(soon) != nil {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	pending := map[string]string{}
	for _, w := range waiting {
		pending[w.Name] = pendingReason(w, answers, failed)
	}
	return pending, nil
}

// pendingReason returns why a save is not in its session yet, with advice.
func pendingReason(w drafts.Waiting, answers map[int][]string, failed error) string {
	_, answered := answers[w.Owner]
	switch {
	case !w.Alive && failed != nil:
		return fmt.Sprintf("the server of the mount died, and %v", failed)
	case !w.Alive:
		return "the server of the mount died; try again"
	case answered:
		return "it could not be stored and will be retried; errors/ in the mount and .git/domarkx/mount.log say why"
	}
	return Mount{PID: w.Owner}.NoAnswer()
}

// Dismiss lets the repository's mounts drop broken saves, by the keys of their drafts, because their texts were saved elsewhere.
func (m *Mounts) Dismiss(ctx context.Context, keys []string) error {
	mounts, err := m.live()
	if err != nil || len(keys) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var errs []error
	for _, mount := range mounts {
		for _, key := range keys {
			a, err := mount.ask(ctx, askDismiss+key)
			if isTimeout(err) {
				err = errors.New(mount.NoAnswer())
			} else if a.Problem != "" {
				err = errors.New(a.Problem)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// askServers asks the servers of the repository's mounts to create snapshots of all saves. It returns the sessions whose saves
// are still pending, for each process that answered.
func (m *Mounts) askServers(ctx context.Context) map[int][]string {
	mounts, err := m.live()
	if err != nil {
		return nil
	}
	answers := map[int][]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, mount := range mounts {
		all.Go(func() {
			if a, err := mount.ask(ctx, askSettle); err == nil {
				mu.Lock()
				defer mu.Unlock()
				answers[mount.PID] = a.Pending
			}
		})
	}
	all.Wait()
	return answers
}
