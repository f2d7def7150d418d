package main

import (
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// A runner is a command that has no commands below it.
type runner interface{ Run(inv *invocation) error }

// A repositoryRunner is a runner that works in a repository. That is opened, and its arguments are parsed and completed, before it runs.
type repositoryRunner interface {
	Run(inv *invocation, opened managers) error
}

// A preparer is a repositoryRunner that checks its arguments before the repository is opened.
type preparer interface{ prepare(inv *invocation) error }

// A revisionArg is an argument that names a session, or a snapshot or message of one; or a workspace, or a version of one. Its tag
// "of" says whose name is completed: that of a "session", or with "message" only that in NAME#K.
type revisionArg struct {
	engine.Revision
	typed string // "" if it was left out
}

// Decode implements [kong.MapperValue].
func (r *revisionArg) Decode(ctx *kong.DecodeContext) error {
	return asTyped(ctx, reflect.ValueOf(&r.typed).Elem())
}

// runCommand runs a command whose command line is parsed.
func (inv *invocation) runCommand(command *kong.Node) error {
	target := command.Target.Addr().Interface()
	if c, ok := target.(runner); ok {
		return c.Run(inv)
	}
	c, ok := target.(repositoryRunner)
	if !ok {
		return fmt.Errorf("%s cannot be run", command.Name)
	}
	for _, arg := range command.Positional {
		r, ok := arg.Target.Addr().Interface().(*revisionArg)
		if !ok || r.typed == "" && !arg.Required {
			continue
		}
		var err error
		if r.Revision, err = engine.ParseRevision(r.typed); err != nil {
			return err
		}
	}
	if c, ok := target.(preparer); ok {
		if err := c.prepare(inv); err != nil {
			return err
		}
	}
	opened, err := inv.open()
	for _, arg := range command.Positional {
		if err == nil {
			err = inv.completeArgument(arg)
		}
	}
	if err != nil {
		return err
	}
	return c.Run(inv, opened)
}

// completeArgument completes the name of a session in an argument, as its tag "of" says.
func (inv *invocation) completeArgument(arg *kong.Positional) error {
	of := arg.Tag.Get("of")
	switch target := arg.Target.Addr().Interface().(type) {
	case *string:
		if of == "session" {
			return inv.complete(target)
		}
	case *revisionArg:
		if of == "session" || of == "message" && target.Message >= 0 {
			return inv.complete(&target.Name)
		}
	}
	return nil
}
