package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// An invocation is the environment in which a command runs. It opens the repository and
// other things that take time when they are first needed.
type invocation struct {
	ctx     context.Context
	args    []string // as typed, without the program name
	getenv  func(string) string
	in      io.Reader
	out     *output   // results
	err     io.Writer // everything else
	colored *bool     // whether the output has colours; nil until first used
	opts    *globals
	model   *kong.Application

	signals  *signalWatch
	patience time.Duration // how long to wait for the server of a mount

	repository *gitcmd.Git // nil until first used
	opened     managers    // empty until first used
}

func newInvocation(ctx context.Context, getenv func(string) string, std stdio, opts *globals, model *kong.Application) *invocation {
	inv := &invocation{ctx: ctx, getenv: getenv, in: std.in, err: std.err, opts: opts, model: model, signals: &signalWatch{}, patience: mountd.Patience}
	inv.out = newOutput(std.out)
	return inv
}

// close flushes the output, waits for the pager and closes the store.
func (inv *invocation) close() error {
	err := inv.out.close()
	if inv.opened.store != nil {
		err = errors.Join(err, inv.opened.store.Close())
	}
	return err
}

// maxMessage is the size up to which a message is read from standard input, in bytes.
const maxMessage = 64 << 20

// readMessage reads a message from standard input.
func (inv *invocation) readMessage() (string, error) {
	data, err := io.ReadAll(io.LimitReader(stdin{inv}, maxMessage+1))
	if err == nil && len(data) > maxMessage {
		err = fmt.Errorf("%w: the message has more than %d MiB; attach files with chat --attach, or import a document", domarkx.ErrInvalid, maxMessage>>20)
	}
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	return string(data), nil
}

// stdin is standard input. Reading it ends early when the command is cancelled.
type stdin struct{ inv *invocation }

func (s stdin) Read(p []byte) (int, error) {
	data, err := await(s.inv.ctx, func() ([]byte, error) {
		data := make([]byte, len(p)) // p is the caller's again if nobody waits for the input any more
		n, err := s.inv.in.Read(data)
		return data[:n], err
	})
	return copy(p, data), err
}

// await returns the result of read, which may wait for input for ever. It returns early, with the cause, when ctx is cancelled.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// command returns the model of the command that words name, or of the program if words is empty.
func (inv *invocation) command(words []string) (*kong.Node, error) {
	node := inv.model.Node
	for _, word := range words {
		i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word && !child.Hidden })
		if i < 0 {
			return nil, notACommand(node, word)
		}
		node = node.Children[i]
	}
	return node, nil
}

// warn prints an error that does not end the command. With --quiet it prints nothing.
func (inv *invocation) warn(err error) {
	if !inv.opts.Quiet {
		printError(inv.err, err)
	}
}

// git returns the repository of the current directory: the one in which it is, or else the one whose sessions are mounted there.
func (inv *invocation) git() (*gitcmd.Git, error) {
	if inv.repository == nil {
		found, err := gitcmd.Discover(inv.ctx, ".", nil)
		if errors.Is(err, gitcmd.ErrNoRepository) {
			found, err = inv.mounted(err)
		}
		if err != nil {
			return nil, err
		}
		inv.repository = found
	}
	return inv.repository, nil
}

// mounted returns the repository whose sessions are mounted on the current directory or above it, with its main work tree. If none
// is, the error is otherwise.
func (inv *invocation) mounted(otherwise error) (*gitcmd.Git, error) {
	commonDir, ok := mountd.RepositoryAt(".")
	if !ok {
		return nil, otherwise
	}
	found, err := gitcmd.Discover(inv.ctx, commonDir, nil)
	if err != nil {
		return nil, err
	}
	trees, err := found.WorkTrees(inv.ctx)
	if err != nil || len(trees) == 0 || !isDirectory(trees[0]) {
		return found, err
	}
	return gitcmd.Discover(inv.ctx, trees[0], nil)
}

// config returns a setting of Git's configuration. A setting that cannot be read, for
// example outside a repository, counts as unset.
func (inv *invocation) config(key string) (string, bool) {
	settings, err := inv.settings()
	if err != nil {
		return "", false
	}
	return settings.Get(key)
}

// settings returns Git's configuration in the repository.
func (inv *invocation) settings() (*gitcmd.Config, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	return git.Config(inv.ctx)
}

// remotes returns the names of the repository's remotes.
func (inv *invocation) remotes() ([]string, error) {
	settings, err := inv.settings()
	if err != nil {
		return nil, err
	}
	return settings.Subsections("remote"), nil
}
