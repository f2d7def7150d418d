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
