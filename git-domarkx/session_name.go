package main

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
)

// complete replaces the names of sessions that a user typed, which may be parts of them (see [pick.Picker.FullName]).
// It is for sessions that exist, in the opened repository.
//
// Commands after which the same part could mean another session, or that make copies elsewhere, do not call it: rm, redact,
// restore, and the remotes' pull and fetch.
func (inv *invocation) complete(names ...*string) error {
	for _, name := range names {
		full, err := inv.opened.picker().FullName(inv.ctx, *name)
		if err != nil {
			return err
		}
		*name = full
	}
	return nil
}

// selected returns the sessions that patterns or parts of their names choose, by name; all of them if there are none. It returns
// an error for a pattern that no session matches.
func (inv *invocation) selected(all []domarkx.Info, patterns []string) ([]domarkx.Info, error) {
	full, err := inv.matching(all, patterns)
	if err != nil {
		return nil, err
	}
	return inv.opened.picker().Select(inv.ctx, all, pick.Options{Patterns: full, Sort: "name"})
}

// matching returns the patterns with the parts of names in them completed, or an error for one that no session matches.
func (inv *invocation) matching(all []domarkx.Info, patterns []string) ([]string, error) {
	var full []string
	for _, p := range patterns {
		some, err := inv.opened.picker().Select(inv.ctx, all, pick.Options{Patterns: []string{p}})
		if err != nil && some == nil {
			return nil, err
		}
		found := len(some) > 0
		if isGlob := strings.ContainsAny(p, `*?[\`); !found && !isGlob {
			was := p
			if err := inv.complete(&p); err != nil {
				return nil, err
			}
			found = p != was
		}
		if !found {
			return nil, fmt.Errorf("session %q: %w", p, domarkx.ErrNoSession)
		}
		full = append(full, p)
	}
	return full, nil
}
