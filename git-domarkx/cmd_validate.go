package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

type validateCmd struct {
	Paths []string `arg:"" name:"PATH" help:"A file, a directory, or - for standard input."`
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
	var bad error
	read, err := inv.validator().Validate(inv.ctx, c.Paths, stdin, func(err error) { bad = errors.Join(bad, err) })
	if err != nil {
		return err
	}
	if bad == nil {
		inv.allIsWell("validate: " + counted(read, "document") + ", no problems")
	}
	return inv.bad(bad)
}
