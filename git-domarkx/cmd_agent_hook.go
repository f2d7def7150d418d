package main

type agentHookCmd struct {
	Agent string `arg:"" name:"AGENT" help:"The agent that runs the hook."`
	Event string `arg:"" optional:"" name:"EVENT" help:"The event that the hook is for, if its input does not name it."`
}

func (agentHookCmd) Help() string {
	return `
Notifies the process that records this repository's agents. Agents run it as a hook, which git
domarkx agent install sets up; the agent's description of the event is its standard input.

It returns at once, prints nothing and exits with 0 whatever happens, so that it never
hinders an agent. In a repository whose agents are not recorded it does nothing. If no process
records, it starts one. Paths in its input are never opened, and prompts and results in it are
not kept.
`
}

// Run notifies the watcher. [runHook] handles usual hooks before the command line is
// parsed, so this runs only if there are options.
func (c *agentHookCmd) Run(inv *invocation) error {
	hook{getenv: inv.getenv, in: inv.in}.run(c.Agent, c.Event)
	return nil
}
