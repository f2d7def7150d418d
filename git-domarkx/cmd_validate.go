package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

type validateCmd struct {
	Paths []string `arg:"" name:"PATH" help:"A file, a folder, or - for standard input."`
}

func (validateCmd) Help() string {
	return `
Reads documents as import does and says what is wrong with them; nothing is stored, and
no repository is needed. Errors are lines on standard error:

    PATH:LINE:COLUMN: what is wrong, what was expected

For JSON the pointer (RFC 6901) of the wrong value stands before the message.
`
}

// ExitOne says what exit status 1 means.
func (validateCmd) ExitOne() string {
	return "A document is not well formed."
}

// Run checks the documents.
func (c *validateCmd) Run(inv *invocation) error {
	var stdin io.Reader
	if slices.Contains(c.Paths, "-") {
		data, err := inv.readInput()
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		stdin = bytes.NewReader(data)
	}
	var bad []error
	read, err := validator().Validate(inv.ctx, c.Paths, stdin, func(err error) { bad = append(bad, err) })
	if err != nil {
		return err
	}
	if len(bad) == 0 {
		inv.allIsWell("validate: " + counted(read, "document") + ", no problems")
	}
	return badInput(inv, bad)
}
