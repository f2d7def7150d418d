package main

type workspaceCmd struct {
	List     workspaceListCmd     `cmd:"" help:"List the workspaces."`
	Log      workspaceLogCmd      `cmd:"" help:"List the versions of a workspace."`
	Show     workspaceShowCmd     `cmd:"" help:"List the resources of a version."`
	Path     workspacePathCmd     `cmd:"" help:"Print where a workspace is live."`
	Diff     workspaceDiffCmd     `cmd:"" help:"Show what differs between two versions."`
	Checkout workspaceCheckoutCmd `cmd:"" help:"Write a version to a directory."`
	Attach   workspaceAttachCmd   `cmd:"" help:"Let a session work in another workspace."`
	Rm       workspaceRmCmd       `cmd:"" help:"Move a workspace to the trash."`
}

func (workspaceCmd) Help() string {
	return `
A workspace is the environment that the calls of a session run in: one or more resources,
such as a directory, a shell, a container or a database. It is made by the first call of a
session whose document asks for it (a workspace-config block), and it is named like the
session. After each call its state is committed as a version, to which the message
that made the call is linked: refs/domarkx/workspaces/WS holds the newest.

- ` + "`WS`" + ` is a workspace: its newest version.
- ` + "`WS~2`" + ` is the version two before that.
- ` + "`WS@OID`" + ` is the version whose object id begins with OID.

The versions of a workspace can be browsed in a mount, below workspaces/. To go back to
one, rewind the session: "git domarkx rewind NAME#K".
`
}
