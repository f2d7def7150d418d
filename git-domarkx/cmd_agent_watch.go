package main

import (
	"errors"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

type agentWatchCmd struct {
	Foreground bool `xor:"how" help:"Record in this process, until it is interrupted, and print the sessions that grow."`
	Stop       bool `xor:"how" help:"End the process that records."`
}

func (c *agentWatchCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	dir := recording.Dir(git.CommonDir)
	switch {
	case c.Stop:
		return recording.Stop(inv.ctx, dir)
	case c.Foreground:
		return inv.watchHere(dir)
	}
	if err := recordAll(inv, dir); err != nil {
		return err
	}
	return inv.startWatcher(dir)
}

// recordAll changes the settings so that all agents are recorded from now on.
func recordAll(inv *invocation, dir string) error {
	return recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
		if s.All.IsZero() {
			s.All = time.Now().UTC().Truncate(time.Second)
		}
		s.Paused = time.Time{}
	})
}

type agentPauseCmd struct{}

func (agentPauseCmd) Run(inv *invocation) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	dir := recording.Dir(git.CommonDir)
	settings, err := recording.ReadSettings(dir)
	if err != nil {
		return err
	}
	if len(settings.Agents) == 0 && settings.All.IsZero() {
		return errors.New("pausing: nothing is recorded in this repository")
	}
	err = recording.ChangeSettings(inv.ctx, dir, func(s *recording.Settings) {
		if s.Paused.IsZero() {
			s.Paused = time.Now().UTC().Truncate(time.Second)
		}
	})
	if err != nil {
		return err
	}
	if err := recording.Stop(inv.ctx, dir); err != nil {
		return err
	}
	inv.say("recording is paused; git domarkx agent watch goes on")
	return nil
}
