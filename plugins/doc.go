// Package plugins implements the WorkspaceManager: it instantiates the resources of workspaces
// on this machine, calls their tools, and moves their states between the resources and the
// store. It knows neither resource types nor refs; its callers commit workspaces.
//
// # On disk
//
// Each instance, a workspace on this machine, has a directory in [Config].Dir:
//
//	<name>/lock         locked (flock) by the process that uses it
//	<name>/state.json   its state; replaced as a whole
//	<name>/<n>/         a resource's own directory ([domarkx.Env].Dir)
//	.tmp-<random>/      an instance that its process tears down ([Options].Temporary)
//	.gone-<random>/     an instance that is being removed
//
// After a kill no manual repair is needed: the next Open finishes interrupted operations.
package plugins
