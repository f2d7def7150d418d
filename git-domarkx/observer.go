package main

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// An observer takes versions of work trees for the watcher.
type observer struct{ trees *observe.Manager }

// Take takes a version when an agent's hook reports an event, and links the messages of sessions that got a
// snapshot. Events of directories outside of the repository's work trees change nothing.
func (o observer) Take(ctx context.Context, e recording.Event, late func() bool) error {
	if e.Kind == recording.Recorded {
		return o.trees.Recorded(ctx, observe.Recording{Name: e.Stored, Path: e.Transcript, Time: e.Time, Late: late}, all.Codecs())
	}
	at := observe.Moment{Agent: e.Agent, ID: e.Session, Path: e.Transcript, Dir: e.Dir, Calls: e.Calls, Time: e.Time, Late: late}
	switch e.Kind {
	case agents.PromptSubmit:
		at.Kind = observe.Prompt
	case agents.ToolsDone:
		at.Kind = observe.Batch
	case agents.TurnStop, agents.SessionEnd:
		at.Kind = observe.Turn
	default:
		return nil
	}
	if at.ID == "" || at.Dir == "" {
		return nil
	}
	_, err := o.trees.Take(ctx, at)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	return err
}
