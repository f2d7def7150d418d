package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
)

type checkoutCmd struct {
	pathOption
	Yes      bool   `help:"Write set-id bits, capabilities, devices and nested repositories of an untrusted session, nested repositories that run programs, and owners and devices where this user may."`
	Revision string `arg:"" name:"NAME[#K]" help:"A session, NAME~2, NAME@OID, or a message of one."`
	Dir      string `arg:"" name:"DIR" help:"A directory that is empty or not there."`
}

func (checkoutCmd) Help() string {
	return `
Writes the workspace as message K left it to a directory, each resource to DIR/RESOURCE:
the version that the message is linked to, or else the last one before it; without K,
that of the last linked message. Content, modes, symbolic links, empty directories and names
that Git refuses come back as they were, extended attributes where the file system takes
them; times do not. Of a database its schema and rows are written, of an SQLite database
the file, too.

Some files can do harm just by being there: set-id files, programs with capabilities,
devices, and nested repositories, whose configuration Git would follow. Those of a session
that is not trusted ("git domarkx trust NAME") are written only with --yes. So are nested
repositories of a trusted session by which Git would run programs, even if the user only
asked for the status there: a pull can bring them. Those have hooks, a .git that leads
elsewhere, or settings that Git does not write itself, such as core.fsmonitor. Owners and devices are
written with --yes, by root. Where a file's owner is not kept, its set-id bits are not either.

The live workspace is not touched; "git domarkx rewind" takes that back.

DIR is complete or as it was. The files are first written to a directory .domarkx-checkout-…,
beside DIR when that is not there yet, else in it; what a killed checkout leaves of that
name the same command removes.

## Output

    DIR
`
}

const refusedCheckout = "The directory is not empty, or the version holds what needs --yes."

func (checkoutCmd) ExitOne() string { return refusedCheckout }

func (c *checkoutCmd) Run(inv *invocation) error {
	opened, revision, err := inv.openAt(c.Revision)
	if err != nil {
		return err
	}
	v, err := opened.sessions.VersionAt(inv.ctx, revision)
	if err != nil {
		return err
	}
	return c.checkOut(inv, opened, checkout.Request{Of: revision, Version: v, Dir: c.Dir, Yes: c.Yes})
}

// checkOut writes a version to a directory. It warns about everything that it could not
// write exactly.
func (o pathOption) checkOut(inv *invocation, opened managers, r checkout.Request) error {
	left, err := opened.checkouts.Checkout(inv.ctx, r)
	if err != nil {
		return err
	}
	for _, what := range left {
		inv.warn(fmt.Errorf("warning: %s", what))
	}
	return o.printPath(inv, r.Dir)
}
