package main

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// version returns the workspace version that an argument names (WS, WS~N, WS@OID), and
// the opened repository.
func (inv *invocation) version(spelled string) (managers, engine.Revision, domarkx.Version, error) {
	revision, err := engine.ParseRevision(spelled)
	if err != nil {
		return managers{}, revision, domarkx.Version{}, err
	}
	opened, err := inv.open()
	if err != nil {
		return managers{}, revision, domarkx.Version{}, err
	}
	v, err := opened.sessions.ResolveVersion(inv.ctx, revision)
	return opened, revision, v, err
}
