package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// approver returns what says whether something that is not trusted may run this
// once: yes when the user typed --yes; else the user is shown it and, on a terminal,
// asked.
func (inv *invocation) approver(yes bool) func(context.Context, *engine.UntrustedError) (bool, error) {
	return func(ctx context.Context, e *engine.UntrustedError) (bool, error) {
		if yes {
			return true, nil
		}
		inv.showListing(e.Listing)
		if !isTerminal(inv.in) || !isTerminal(inv.err) {
			return false, nil
		}
		fmt.Fprintf(inv.err, "%s is not trusted. Run this, once? [y/N] ", visible(e.Session))
		answer, err := inv.readLine(ctx)
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", err
	}
}

// showListing shows what would run, so that nothing of it hides anything else.
func (inv *invocation) showListing(listing []engine.Runs) {
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

// readLine reads a line that the user types, or until the command is ended.
func (inv *invocation) readLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(inv.in).ReadString('\n')
		if err == io.EOF {
			err = nil
		}
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
