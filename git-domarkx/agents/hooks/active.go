package hooks

import (
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// Installed returns the scopes in which all hooks of the agent are installed.
func (a Agent) Installed(p agents.Place) []agents.Scope {
	var scopes []agents.Scope
	for _, scope := range a.Hooks.Scopes {
		files := a.Hooks.Files(scope, p)
		missing := func(path string) bool {
			f, err := ReadFile(path)
			return err != nil || f.Missing || !a.has(f.Data)
		}
		if len(files) > 0 && !slices.ContainsFunc(files, missing) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// Reviewed reports whether the user has reviewed the hooks; it is true for agents that need no
// review.
func (a Agent) Reviewed(p agents.Place) bool {
	if a.Hooks.Reviewed == nil {
		return true
	}
	for _, scope := range a.Installed(p) {
		if slices.ContainsFunc(a.Hooks.Files(scope, p), func(file string) bool { return a.Hooks.Reviewed(p, file) }) {
			return true
		}
	}
	return false
}
