package main

type zeusCmd struct {
	Save    zeusSaveCmd    `cmd:"" help:"Save which agents are live, with their sessions."`
	List    zeusListCmd    `cmd:"" help:"List the agents that were saved."`
	Restore zeusRestoreCmd `cmd:"" help:"Start the agents of a snapshot again."`
}

func (zeusCmd) Help() string {
	return `
Zeus runs agents in windows of kitty and in sessions of tmux. A snapshot says which ones were
live, and where. Here it is a session, in which each agent is a message, and the transcript
of each agent (the session of pi that it was in) is kept with it: so it means something on
another machine, too. Zeus itself finds the same snapshot in its own directory.

An agent in kitty is in a window that has Zeus's variables, or that shows pi and has an id
in Zeus's directory (zeus-agent-ids.json), as Zeus gives one to each window with pi that it
sees. Another window with pi is none of Zeus's agents.

## Configuration

- domarkx.zeus.agentCommand is the command that starts an agent, "pi" unless set. A shell
  reads it; --session and the path of the agent's session follow.
- domarkx.zeus.stateDir is Zeus's directory, unless ZEUS_STATE_DIR says it. Unless it is set, it
  is where Zeus has it: storage.state_dir in Zeus's own config.toml, else ZEUS_HOME, else
  ~/.zeus.
- domarkx.zeus.tmux is the tmux server, by its name (as with tmux -L) or by the path of
  its socket; the one that tmux itself uses unless set.
- domarkx.zeus.kitty is an address at which a kitty listens, such as unix:/run/user/1000/kitty;
  * matches any name. It can be set several times. Unless it is set, they are KITTY_LISTEN_ON
  and, as for Zeus, unix:/tmp/kitty-*.
`
}
