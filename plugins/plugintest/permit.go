package plugintest

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// MayOpen returns a permit to open resources in a workspace; without any, to open the live ones.
func MayOpen(workspace string, specs []domarkx.ResourceSpec) permit.Permit {
	if len(specs) == 0 {
		return permit.Issue("", permit.What{Workspace: workspace}, permit.Live, permit.Shared)
	}
	return permit.Issue("", permit.What{Workspace: workspace, Resources: specs}, permit.Trusted, permit.Shared)
}

// MayLoad returns a permit to load a version with its resources, or with others of that name if specs are given.
func MayLoad(workspace string, v domarkx.Version, in permit.Confinement, specs ...domarkx.ResourceSpec) permit.Permit {
	if len(specs) == 0 {
		for _, r := range v.Resources {
			specs = append(specs, r.ResourceSpec)
		}
	}
	return permit.Issue("", permit.What{Workspace: workspace, Resources: specs, Version: v.ID}, permit.Trusted, in)
}

// MayCall returns a permit to make a call.
func MayCall(workspace, resource string, call domarkx.Call) permit.Permit {
	return permit.Issue("", permit.What{Workspace: workspace, Resource: resource, Call: &call}, permit.Trusted, permit.Shared)
}

// MayRun returns a permit to run code.
func MayRun(workspace, language, code string) permit.Permit {
	return permit.Issue("", permit.What{Workspace: workspace, Code: &permit.Code{Language: language, Text: code}}, permit.Trusted, permit.Shared)
}
