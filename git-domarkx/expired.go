package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// remarkExpired says that the files of a version are not here any more.
func (inv *invocation) remarkExpired(e *domarkx.ExpiredError) {
	if !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "%v\n", e)
	}
}

// mentionExpired says which versions that a session's messages link have no files any more.
func (inv *invocation) mentionExpired(sessions *engine.SessionManager, r engine.Revision) error {
	found, err := sessions.ExpiredLinks(inv.ctx, r)
	if err != nil || len(found) == 0 || inv.opts.Quiet {
		return err
	}
	numbers := slices.Sorted(maps.Keys(found))
	last := numbers[len(numbers)-1]
	if len(numbers) > 1 {
		fmt.Fprintf(inv.err, "#%d and %s before it link versions without files:\n", last, countOf(len(numbers)-1, "message"))
	} else {
		fmt.Fprintf(inv.err, "#%d links a version without files:\n", last)
	}
	inv.remarkExpired(found[last])
	return nil
}
