package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

type pushCmd struct {
	exchangeOption
	All          bool `help:"All sessions."`
	AllowIgnored bool `help:"Send files that the repository ignores, too."`
	AllowSecrets bool `help:"Send sessions with secrets, too."`
}

func (c *pushCmd) prepare(*invocation) error {
	if c.All && len(c.Names) > 0 {
		return usagef("--all sends every session; it takes no NAME")
	}
	return nil
}

func (c *pushCmd) Run(inv *invocation, opened managers) error {
	remote, names, err := c.where(inv)
	if err != nil {
		return err
	}
	for i := range names {
		if err := inv.complete(&names[i]); err != nil {
			return err
		}
	}
	request := transfer.PushRequest{Remote: remote, Names: names, All: c.All, AllowIgnored: c.AllowIgnored}
	secrets := scan.Gate{Manager: opened.scans}
	if !c.AllowSecrets {
		request.Secrets = &secrets
	}
	results, err := opened.remotes.Push(inv.ctx, request, inv.gitProgress())
	inv.printSecrets(secrets.Found)
	if ignored, ok := errors.AsType[*transfer.IgnoredError](err); ok {
		return printIgnored(inv, ignored)
	}
	if err == nil && c.All {
		results = withPending(results, opened.pending)
	}
	if err == nil && len(results) == 0 {
		inv.say("nothing to send: the remote has no session yet; name the sessions to send, or use --all")
	}
	return c.printExchange(inv, results, err)
}

// withPending adds the sessions that have only saves in mounts and no snapshot yet, sorted by name.
func withPending(results []transfer.Result, pending pendingSaves) []transfer.Result {
	for _, name := range slices.Sorted(maps.Keys(pending)) {
		if !slices.ContainsFunc(results, func(e transfer.Result) bool { return e.Name == name }) {
			results = append(results, transfer.Result{Name: name, Status: engine.Pending, Failed: true})
		}
	}
	return results
}

// maxIgnored is the maximum number of ignored files that are listed.
const maxIgnored = 50

// printIgnored lists the ignored files that prevented a push.
func printIgnored(inv *invocation, e *transfer.IgnoredError) error {
	for i, f := range e.Files {
		if i == maxIgnored && len(e.Files) > maxIgnored+1 {
			fmt.Fprintf(inv.err, "and %d more\n", len(e.Files)-i)
			break
		}
		fmt.Fprintf(inv.err, "%s/%s in version %.12s\n", visibleLine(f.Resource), visibleLine(f.Path), f.Version)
	}
	printError(inv.err, e)
	return errNo
}
