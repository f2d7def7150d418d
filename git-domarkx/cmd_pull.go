package main

type pullCmd struct {
	Remote string   `arg:"" optional:"" name:"REMOTE" help:"A remote or URL of Git; domarkx.remote, else the only one, else origin."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"The sessions."`
}

func (pullCmd) Help() string {
	return `
Fetches and then brings your sessions up to date: those that are new come, those that only
moved there move here, and those that both sides changed are merged. Merging never loses
a message: messages added on both sides are all there, and one that was changed on both
sides is there in both texts, marked in message_metadata.conflict. Both sides that pull
make the same commit.

Workspaces come with their sessions. They are not merged: when both sides ran calls, the
next version follows both and holds what the last linked message of the session left.
What is live on this machine stays as it is until the next call, which commits first.

A session that was removed there and not changed here goes to the trash, with its
workspace.

## Output

    NAME  STATUS

One line for each session. STATUS is new, updated, merged, ahead (there is
more here), up to date, or says what became of a removed session.
`
}

// Run exchanges sessions with the remote.
func (c *pullCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	remote, names, err := inv.remoteAndNames(c.Remote, c.Names)
	if err != nil {
		return err
	}
	told, err := sessions.Pull(inv.ctx, remote, names, inv.gitProgress())
	return printExchange(inv, told, err)
}
