package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

type validateCmd struct {
	Paths []string `arg:"" name:"PATH" help:"A file, a directory, or - for standard input."`
}

func (validateCmd) Help() string {
	return `
Reads documents as import does and says what is wrong with them; nothing is stored, and
no repository is needed. Errors are lines on standard error:

    PATH:LINE:COLUMN: what is wrong, what was expected

For JSON the pointer (RFC 6901) of the wrong value stands before the message.

The resources that a document asks for are checked against the config schemas of their
plugins, completed by the defaults in .domarkx.toml. No resource is started. A plugin that is a
program on PATH runs to describe its config, as for plugin list. A type without a plugin on this
machine is an error.
`
}

func (validateCmd) ExitOne() string {
	return "A document is not well formed, or its resources cannot be opened as they are configured."
}

func (c *validateCmd) Run(inv *invocation) error {
	var stdin io.Reader
	if slices.Contains(c.Paths, "-") {
		data, err := inv.readAll(inv.in)
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		stdin = bytes.NewReader(data)
	}
	var bad []error
	read, err := inv.validator().Validate(inv.ctx, c.Paths, stdin, func(err error) { bad = append(bad, err) })
	if err != nil {
		return err
	}
	if len(bad) == 0 {
		inv.allIsWell("validate: " + counted(read, "document") + ", no problems")
	}
	return badInput(inv, bad)
}
