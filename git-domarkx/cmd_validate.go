package main

import (
	"errors"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

type validateCmd struct {
	Paths []string `arg:"" name:"PATH" help:"A file, a directory, or - for standard input."`
}

func (c *validateCmd) Run(inv *invocation) error {
	workTree, types := inv.resourceTypes()
	env := local.Environment{WorkTree: workTree, Workspaces: types}
	documents := importer.New(engine.New(nil, all.Codecs(), env, nil), nil, env) // without a store
	var bad error
	read, err := documents.Validate(inv.ctx, c.Paths, stdin{inv}, func(err error) { bad = errors.Join(bad, err) })
	if err != nil {
		return err
	}
	if bad == nil {
		inv.allIsWell("validate: " + counted(read, "document") + ", no problems")
	}
	return inv.bad(bad)
}
