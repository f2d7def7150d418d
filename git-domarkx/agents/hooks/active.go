package hooks

import (
	"slices"
	"strings"
)

// Installed returns the scopes in which all hooks of the agent are installed.
func (a Agent) Installed(p Place) []Scope {
	var scopes []Scope
	for _, scope := range a.Scopes {
		files := a.file(scope, p)
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
// review. Codex stores a digest of each reviewed hook. Reviewed cannot detect that a hook changed
// after its review, since only Codex can compute the digest.
func (a Agent) Reviewed(p Place) bool {
	if a.Review == "" {
		return true
	}
	config, err := ReadFile(p.or("CODEX_HOME", ".codex", "config.toml"))
	if err != nil || config.Missing {
		return false
	}
	c, err := readTOML(config.Data)
	if err != nil {
		return false
	}
	for _, scope := range a.Installed(p) {
		for _, path := range a.file(scope, p) {
			reviewed := 0
			for key, state := range c.Hooks.State {
				if strings.HasPrefix(key, path+":") && state.Trusted != "" {
					reviewed++
				}
			}
			if reviewed >= len(a.events) {
				return true
			}
		}
	}
	return false
}
