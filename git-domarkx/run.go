package main

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// stdio holds the standard streams of the program.
type stdio struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, std stdio) int {
	setGCPercent(getenv, 400)
	if isHook(args) {
		args = append(args, "") // the event may be left out
		notifyWatcher(args[2], args[3], getenv, std.in)
		return exitOK
	}
	ctx, signals, stop := untilSignal(ctx)
	defer stop()
	var line commandLine
	if len(args) == 0 {
		args = []string{"--usage"}
	}
	parser, err := newParser(&line, args[0])
	if err != nil {
		return report(std.err, err) // an error in the grammar itself, which tests catch
	}
	inv := newInvocation(ctx, getenv, std, &line.globals, parser.Model)
	inv.args, inv.signals = args, signals
	err = runCommand(parser, inv, args)
	if errors.Is(err, syscall.EPIPE) && inv.out.pager != nil {
		err = nil // the user has left the pager
	}
	err = errors.Join(err, inv.close())
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // the signal is the cause of other errors
	}
	return report(std.err, err)
}

func runCommand(parser *kong.Kong, inv *invocation, args []string) error {
	command, err := parse(parser, args)
	if err != nil {
		return parseFailure(err, inv)
	}
	err = inv.runCommand(command)
	if usage, ok := errors.AsType[*usageError](err); ok {
		usage.of(command)
	}
	return err
}

// of records the command that a usage error is about, unless that is help.
func (e *usageError) of(command *kong.Node) {
	if command != nil && command.Name != "help" {
		e.command, e.usage = clidoc.VerbOf(command), clidoc.New(command, resultFields).Usage
	}
}

// parseFailure converts an error of the parser to a usage error. If the user asked for help or the version, it prints that.
func parseFailure(err error, inv *invocation) error {
	if ask, ok := errors.AsType[*helpRequest](err); ok {
		return ask.print(inv)
	}
	failure := &usageError{msg: plainParseError(err)}
	parse, ok := errors.AsType[*parseError](err)
	if !ok {
		return failure
	}
	if len(parse.command.Children) > 0 {
		if typed, ok := unexpectedArgument(err); ok {
			return notACommand(parse.command, typed)
		}
		if errors.Is(err, errNoCommand) {
			return (&helpRequest{node: parse.command}).print(inv)
		}
	}
	if parse.command.Type == kong.CommandNode {
		failure.of(parse.command)
	}
	return failure
}

// unexpectedArgument returns the argument that the parser did not expect.
func unexpectedArgument(err error) (string, bool) {
	rest, ok := strings.CutPrefix(err.Error(), "unexpected argument ")
	argument, _, _ := strings.Cut(rest, ", did you mean ")
	return argument, ok
}

// setGCPercent sets the garbage collector's target percentage, unless the user set it. At 400 the first collection starts when
// the heap has 16 MB instead of 4: most commands end before that, and would spend a fifth of their time collecting. Commands that
// process whole documents set it to 100 or less, because their heap grows with the documents.
func setGCPercent(getenv func(string) string, percent int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// setMemoryLimit sets the size of the heap in bytes from which garbage is collected more often, unless the user set it.
func setMemoryLimit(getenv func(string) string, limit int64) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
