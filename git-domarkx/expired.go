package main

import (
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// mentionExpired says which versions that a session's messages link have no files any more.
func (inv *invocation) mentionExpired(sessions *engine.SessionManager, r engine.Revision) error {
	found, err := sessions.ExpiredLinks(inv.ctx, r)
	if err != nil || len(found) == 0 {
		return err
	}
	numbers := slices.Sorted(maps.Keys(found))
	last := numbers[len(numbers)-1]
	if len(numbers) > 1 {
		inv.say("#%d and %s before it link versions without files:", last, countOf(len(numbers)-1, "message"))
	} else {
		inv.say("#%d links a version without files:", last)
	}
	inv.say("%v", found[last])
	return nil
}
