// Package plugins is the WorkspaceManager: it makes the resources of workspaces
// live on this machine, calls their tools, and moves their states between the
// resources and the store. It knows no type of resource, and no ref: committing a
// workspace is up to who calls it.
//
// # On disk
//
// Each live workspace, an instance, has a folder in [Config].Dir:
//
//	<name>/lock         held (flock) by the process that works with it
//	<name>/state.json   what is in it; replaced as a whole
//	<name>/<n>/         a resource's own folder ([domarkx.Env].Dir)
//	.tmp-<random>/      an instance that its process tears down ([Options].Temporary)
//	.gone-<random>/     what is being removed
//
// Nothing that a killed process leaves there needs a hand: the next Open finishes
// what had begun.
package plugins
