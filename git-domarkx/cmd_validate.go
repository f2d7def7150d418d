package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
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
	workTree, types := inv.resourceTypes()
	env := local.Environment{WorkTree: workTree, Workspaces: types}
	documents := importer.New(engine.New(nil, all.Codecs(), env, nil), nil, env) // without a store
	var bad error
	read, err := documents.Validate(inv.ctx, c.Paths, stdin, func(err error) { bad = errors.Join(bad, err) })
	if err != nil {
		return err
	}
	if bad == nil {
		inv.allIsWell("validate: " + counted(read, "document") + ", no problems")
	}
	return inv.bad(bad)
}
