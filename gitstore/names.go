package gitstore

import "github.com/domarkx/domarkx/gitstore/refname"

// SessionRef returns the ref of a session.
func SessionRef(name string) string { return refname.Sessions.Ref(name) }

// WorkspaceRef returns the ref of a workspace.
func WorkspaceRef(name string) string { return refname.Workspaces.Ref(name) }

// CheckName returns [domarkx.ErrInvalid] if a session cannot have that name. See [refname.Kind.Check].
func CheckName(name string) error { return refname.Sessions.Check(name) }

// CheckWorkspaceName is [CheckName] for workspaces.
func CheckWorkspaceName(name string) error { return refname.Workspaces.Check(name) }

// MapName returns a valid name that is similar to the given one. See [refname.Map].
func MapName(name string) string { return refname.Map(name) }
