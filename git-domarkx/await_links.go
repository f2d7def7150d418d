package main

import (
	"context"
	"errors"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// longestLinks is how long a command waits for the links of what an agent has just done.
const longestLinks = 5 * time.Second

// awaitLinks waits until the watcher has heard all hooks, and the versions that it took are linked to their
// messages. Without a watcher, no links are on their way.
func (inv *invocation) awaitLinks(opened managers, name, workspace string) error {
	dir := recording.Dir(opened.git.CommonDir)
	ctx, cancel := context.WithTimeout(inv.ctx, longestLinks)
	defer cancel()
	for {
		if _, running := recording.Running(dir); !running {
			return nil
		}
		waiting := recording.Unheard(dir)
		if !waiting {
			var err error
			if waiting, err = opened.trees.Waiting(ctx, name, workspace); err != nil && ctx.Err() == nil {
				return err
			}
		}
		if !waiting && ctx.Err() == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			if inv.ctx.Err() != nil {
				return context.Cause(inv.ctx)
			}
			inv.warn(errors.New("warning: what the agent did last is not linked to its messages yet; if the files are not those of that message, repeat this later"))
			return nil
		}
	}
}
