package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

type trustCmd struct {
	rowOption[trustRow]
	Revoke bool   `help:"Take the trust back."`
	Name   string `arg:"" name:"NAME" of:"session" help:"The session."`
}

func (c *trustCmd) Run(inv *invocation, opened managers) error {
	status, err := trust.Trusted, error(nil)
	if c.Revoke {
		status, err = opened.trust.Revoke(inv.ctx, c.Name)
	} else {
		err = inv.trust(opened, c.Name)
	}
	if err != nil {
		return err
	}
	return c.print(inv, trustRow{c.Name, status})
}

type trustRow struct {
	Session string `json:"session" head:"NAME" doc:"the name of the session"`
	Status  string `json:"status" head:"STATUS" doc:"trusted or untrusted"`
}

func (inv *invocation) trust(opened managers, name string) error {
	info, err := opened.sessions.Resolve(inv.ctx, tipOf(name))
	if err != nil {
		return err
	}
	listing, err := opened.trust.Listing(inv.ctx, info)
	if err != nil {
		return err
	}
	if len(listing) == 0 {
		inv.say("Nothing of %s can run.", name)
	}
	inv.showListing(listing)
	return opened.trust.Trust(inv.ctx, info)
}

// consent returns how the user agrees to run something of an untrusted session, this time only.
// Without --yes, they are shown what would run, and asked if they are at a terminal.
func (inv *invocation) consent(yes bool) trust.Consent {
	return trust.Consent{Yes: yes, Ask: func(ctx context.Context, e *trust.UntrustedError) (bool, error) {
		inv.showListing(e.Listing)
		if !isTerminal(inv.in) || !isTerminal(inv.err) {
			return false, nil
		}
		what := visible(e.Session) + " is not trusted. Run this, once?"
		if e.Resource != "" {
			what = "These tools of " + visible(e.Resource) + " are not those that you trusted. Call them, once?"
		}
		if len(e.Brought) > 0 {
			what = loadBrought
		}
		return inv.agrees(ctx, what)
	}}
}

// agrees asks a question that is answered with yes or no.
func (inv *invocation) agrees(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(inv.err, "%s [y/N] ", question)
	answer, err := await(ctx, func() (string, error) { return bufio.NewReader(inv.in).ReadString('\n') })
	if err == io.EOF {
		err = nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

const loadBrought = "By these, Git would run programs in your files, even when you only ask for the status there. Load them?"

// showListing prints what would run. It indents every line, so that the text cannot pass for the program's own messages.
func (inv *invocation) showListing(listing []trust.Runs) {
	for _, r := range listing {
		fmt.Fprintf(inv.err, "%s, %s:\n", visible(r.Where), visible(r.What))
		for line := range strings.Lines(r.Text) {
			fmt.Fprintf(inv.err, "    %s\n", visible(strings.TrimSuffix(line, "\n")))
		}
		if r.Text == "" {
			fmt.Fprintln(inv.err, "    (nothing)")
		}
	}
}
