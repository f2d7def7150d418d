package main

type agentHookCmd struct {
	Agent string `arg:"" name:"AGENT" help:"The agent that runs the hook."`
	Event string `arg:"" optional:"" name:"EVENT" help:"The event that the hook is for, if its input does not name it."`
}

// Run notifies the watcher. [runHook] handles usual hooks before the command line is
// parsed, so this runs only if there are options.
func (c *agentHookCmd) Run(inv *invocation) error {
	hook{getenv: inv.getenv, in: inv.in}.run(c.Agent, c.Event)
	return nil
}
