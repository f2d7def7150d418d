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

func (agentWatchCmd) Help() string {
	return `
Records the conversations of coding agents in this repository as they happen: starts a
process that follows the agents' transcripts. What an agent writes is in its session within two
seconds, a snapshot for each turn or quiet second. There is one such process for a
repository, whatever its number of work trees; starting it again changes nothing. It looks at
all transcripts when it starts and every 30 seconds, so what was written while it did not run
is recorded when it runs again. Nothing of what it reads is run or trusted.

It follows all agents that git domarkx agent list shows. With git domarkx agent install,
only the installed ones are followed, and their hooks start the process.

Conversations are not recorded if their title or first prompt, or the directory in which they
began, matches a pattern in Git's configuration. A pattern that begins with / or ~/ is of
directories; * stands for any characters, ? for one:

    git config --add domarkx.agent.ignore '*password*'
    git config --add domarkx.agent.ignore '~/work/secret*'

With --stop the process ends. The hooks of agents start it again; git domarkx agent pause does
not let them.

## Output

Nothing; with --foreground, a line for each session when it gets a snapshot:

    NAME  OID  MESSAGES

The process in the background writes to the file domarkx/recording/log in the repository.
`
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

func (agentPauseCmd) Help() string {
	return `
Stops recording in this repository: ends the process that records, and keeps hooks from
starting it. git domarkx agent watch goes on. What agents write meanwhile is then recorded too,
because it is in their transcripts; to keep a conversation out for good, see
domarkx.agent.ignore in git domarkx help agent watch.
`
}

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
