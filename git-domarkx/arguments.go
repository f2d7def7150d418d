package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
	"github.com/domarkx/domarkx/gitstore/remote"
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

// complete replaces the names of sessions that a user typed, which may be parts of them (see [pick.Picker.FullName]).
// It is for sessions that exist, in the opened repository.
//
// Commands after which the same part could mean another session, or that make copies elsewhere, do not call it: rm, redact,
// restore, and the remotes' pull and fetch.
func (inv *invocation) complete(names ...*string) error {
	for _, name := range names {
		full, err := inv.opened.picker().FullName(inv.ctx, *name)
		if err != nil {
			return err
		}
		*name = full
	}
	return nil
}

func nameOf(info domarkx.Info) string { return info.Name }

// selected returns the sessions that patterns or parts of their names choose, by name; all of them if there are none. It returns
// an error for a pattern that no session matches.
func (inv *invocation) selected(all []domarkx.Info, patterns []string) ([]domarkx.Info, error) {
	full, err := inv.matching(all, patterns)
	if err != nil {
		return nil, err
	}
	return inv.opened.picker().Select(inv.ctx, all, pick.Options{Patterns: full, Sort: "name"})
}

// matching returns the patterns with the parts of names in them completed, or an error for one that no session matches.
func (inv *invocation) matching(all []domarkx.Info, patterns []string) ([]string, error) {
	var full []string
	for _, p := range patterns {
		some, err := inv.opened.picker().Select(inv.ctx, all, pick.Options{Patterns: []string{p}})
		if err != nil && some == nil {
			return nil, err
		}
		found := len(some) > 0
		if isGlob := strings.ContainsAny(p, `*?[\`); !found && !isGlob {
			was := p
			if err := inv.complete(&p); err != nil {
				return nil, err
			}
			found = p != was
		}
		if !found {
			return nil, fmt.Errorf("session %q: %w", p, domarkx.ErrNoSession)
		}
		full = append(full, p)
	}
	return full, nil
}

// where returns the remote and the session names on the command line. If the first word is the name of a session and not that of
// a remote or a path, it counts as a session name, and the remote is the default one.
func (o exchangeOption) where(inv *invocation) (string, []string, error) {
	session, err := inv.sessionOnly(o.Remote)
	if err != nil {
		return "", nil, err
	}
	if session != "" {
		o.Remote, o.Names = "", append([]string{session}, o.Names...)
	}
	found, err := remote.Find(inv.ctx, inv.repository, o.Remote)
	return found.Name, o.Names, err
}

// sessionOnly returns the session whose name a word is, unless it is a remote or a path. @N is the session with the Nth newest
// activity; no other part of a name counts, because a misspelt remote would then send a session to another one.
func (inv *invocation) sessionOnly(word string) (string, error) {
	if word == "" {
		return "", nil
	}
	configured, err := inv.remotes()
	if err != nil || slices.Contains(configured, word) {
		return "", err
	}
	if _, err := os.Stat(word); err == nil {
		return "", nil
	}
	opened := inv.opened
	if strings.HasPrefix(word, "@") {
		return opened.picker().FullName(inv.ctx, word)
	}
	list, err := opened.sessions.List(inv.ctx)
	if slices.ContainsFunc(list, func(i domarkx.Info) bool { return i.Name == word }) {
		return word, err
	}
	return "", err
}

// period parses the options --since and --until. It returns the zero time for an option that is
// not given: from is included, to is not.
func period(since, until string) (from, to time.Time, err error) {
	now := time.Now()
	if since != "" {
		if from, err = when.Since(since, now); err != nil {
			return from, to, badValue("--since", err)
		}
	}
	if until != "" {
		if to, err = when.Until(until, now); err != nil {
			return from, to, badValue("--until", err)
		}
	}
	return from, to, nil
}
