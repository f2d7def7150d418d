package main

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// version returns the workspace version that an argument names (WS, WS~N, WS@OID), and
// the manager that resolved it.
func (inv *invocation) version(spelled string) (*engine.SessionManager, engine.Revision, domarkx.Version, error) {
	revision, err := engine.ParseRevision(spelled)
	if err != nil {
		return nil, revision, domarkx.Version{}, err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return nil, revision, domarkx.Version{}, err
	}
	v, err := sessions.ResolveVersion(inv.ctx, revision)
	return sessions, revision, v, err
}
