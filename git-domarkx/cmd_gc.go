package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/size"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

type gcCmd struct {
	findingOption
	Expire optionalFlag `name:"expire-versions" placeholder:"[=WHEN]" help:"Remove the files of workspace versions that are older than WHEN, or than domarkx.versions.keep."`
	DryRun bool         `name:"dry-run" help:"Only list the versions whose files would be removed, and say how many bytes that frees."`
}

// keepKey is the setting that says which versions keep their files.
const keepKey = "domarkx.versions.keep"

func (c *gcCmd) Run(inv *invocation, opened managers) error {
	policy, err := c.policy(inv)
	if err != nil {
		return err
	}
	var found []engine.Finding
	if policy != nil { // first, because it frees space
		if found, err = c.expire(inv, opened, *policy); err != nil {
			return errors.Join(c.write(inv, found), err)
		}
	}
	if !c.DryRun {
		stored, err := opened.store.GC(inv.ctx)
		if err != nil {
			return err
		}
		found = append(append(found, stored...), opened.turns.Left(inv.ctx, true)...)
	}
	if len(found) == 0 && !c.JSON {
		inv.allIsWell("gc: nothing to remove")
	}
	return c.printFindings(inv, found)
}

// policy returns which versions expire, or nil if all are kept.
func (c *gcCmd) policy(inv *invocation) (*redact.Policy, error) {
	value, set := inv.config(keepKey)
	if c.Expire.value != "" {
		value = c.Expire.value
	} else if !set {
		if c.Expire.given || c.DryRun {
			return nil, usagef("which versions expire? Give --expire-versions=WHEN, or set %s: %s", keepKey, when.ExpiryForms)
		}
		return nil, nil
	}
	since, newest, err := when.Expiry(value, time.Now())
	switch {
	case err != nil && c.Expire.value != "":
		return nil, badValue("--expire-versions", err)
	case err != nil:
		return nil, fmt.Errorf("git config %s: %w", keepKey, err)
	case since.IsZero() && newest == 0:
		return nil, nil
	}
	if !since.IsZero() {
		since = since.UTC().Truncate(time.Second)
	}
	return &redact.Policy{Before: since, Newest: newest}, nil
}

// expire removes the files of old versions, or only lists them.
func (c *gcCmd) expire(inv *invocation, opened managers, policy redact.Policy) (found []engine.Finding, err error) {
	info := func(what, where string) {
		found = append(found, engine.Finding{Severity: severityInfo, What: what, Where: where})
	}
	before, err := size.Objects(opened.store)
	if err != nil {
		return nil, err
	}
	done, err := opened.redactions.Expire(inv.ctx, policy, c.DryRun)
	if err != nil && len(done.Versions) == 0 {
		return nil, err
	}
	number := html.Count(len(done.Versions), "version")
	if c.DryRun {
		ids := make([]string, len(done.Versions))
		for i, e := range done.Versions {
			ids[i] = e.Version.ID
			info(fmt.Sprintf("the files of version %s of %s would expire: %s", e.Version.ID, time.Unix(e.Version.Date, 0).UTC().Format(time.RFC3339), e.Version.Subject), e.Where)
		}
		freed := int64(0)
		if len(ids) > 0 {
			if freed, err = size.Freed(inv.ctx, opened.store, ids); err != nil {
				return found, err
			}
		}
		info(fmt.Sprintf("the files of %s would expire, which frees about %d bytes", number, freed), "")
		return found, nil
	}
	places := map[string][]redact.Expiring{}
	var order []string
	for _, e := range done.Versions {
		if places[e.Where] == nil {
			order = append(order, e.Where)
		}
		places[e.Where] = append(places[e.Where], e)
	}
	for _, where := range order {
		of := places[where]
		first, last := of[0].Version.Date, of[0].Version.Date
		for _, e := range of {
			first, last = min(first, e.Version.Date), max(last, e.Version.Date)
		}
		info(fmt.Sprintf("the files of %s expired, from %s to %s", html.Count(len(of), "version"), time.Unix(first, 0).UTC().Format(time.DateOnly), time.Unix(last, 0).UTC().Format(time.DateOnly)), where)
	}
	if err != nil {
		return found, fmt.Errorf("removing the files of expired versions from the disk: %w; git domarkx gc --expire-versions goes on", err)
	}
	for _, ref := range done.Elsewhere {
		found = append(found, engine.Finding{Severity: severityWarning, What: "it still leads to versions with their files", Where: ref, Fix: "git update-ref -d " + ref})
	}
	for _, pack := range done.Purged.Left {
		found = append(found, engine.Finding{Severity: severityWarning, What: "this pack has files of expired versions, and a .keep or .promisor file", Where: pack, Fix: "remove the .keep file, and run git gc"})
	}
	if len(done.Versions) > 0 || done.Purged.Removed > 0 {
		after, err := size.Objects(opened.store)
		if err != nil {
			return found, err
		}
		info(fmt.Sprintf("%s expired and %d objects were removed: %d bytes less", number, done.Purged.Removed, max(0, before-after)), "")
	}
	return found, nil
}
