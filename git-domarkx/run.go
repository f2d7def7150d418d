package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
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

// neverSuggested are the commands that delete data. They are never suggested for a command with a typing error.
var neverSuggested = []string{"rm", "gc"}

// otherWords are words of Git, shells and other tools, with the command that does here what they do there.
var otherWords = map[string]string{
	"delete":   `"rm NAME"; "restore NAME" brings it back`,
	"find":     `"search WORDS"`,
	"grep":     `"search WORDS", or "search -e PATTERN"`,
	"init":     `nothing: in a Git repository, begin with "import FILE", "append --new -m TEXT NAME" or "agent install AGENT"`,
	"ls":       `"list"`,
	"resume":   `"agent resume NAME"`,
	"sessions": `"list"`,
	"undo":     `"rewind NAME#K" for the files of a message, "restore NAME" for a session that was removed`,
}

// notACommand returns the error for a word that is not a subcommand of node.
func notACommand(node *kong.Node, typed string) error {
	spelled := typed
	if node.Parent != nil {
		spelled = clidoc.VerbOf(node) + " " + typed
	}
	message := fmt.Sprintf("%q is not a command", spelled)
	if other := otherWords[typed]; other != "" && node.Parent == nil {
		return &usageError{msg: message + "; use " + other}
	}
	var similar []string
	for _, child := range node.Children {
		if !child.Hidden && !slices.Contains(neverSuggested, child.Name) && isSimilar(typed, child.Name) {
			similar = append(similar, fmt.Sprintf("%q", clidoc.VerbOf(child)))
		}
	}
	if len(similar) > 0 {
		message += "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	failure := &usageError{msg: message}
	if node.Parent != nil {
		failure.of(node)
	}
	return failure
}

// isSimilar reports whether typed may be a misspelling of command. They must start with
// the same letter, and typed must be a prefix, lack letters or have up to two extra ones,
// or differ in at most a third of its letters. Two swapped neighbours count as one letter.
func isSimilar(typed, command string) bool {
	switch {
	case typed == "" || typed[0] != command[0]:
		return false
	case strings.HasPrefix(command, typed):
		return true
	case len(typed) < len(command):
		return hasLetters(command, typed) && 2*len(typed) >= len(command)
	case len(typed) > len(command):
		return hasLetters(typed, command) && len(typed) <= len(command)+2
	}
	differing := 0
	for i := 0; i < len(typed); i++ {
		if typed[i] == command[i] {
			continue
		}
		differing++
		if i+1 < len(typed) && typed[i] == command[i+1] && typed[i+1] == command[i] {
			i++
		}
	}
	return 3*differing <= len(typed)
}

// hasLetters reports whether word contains the given letters in this order, possibly with others between them.
func hasLetters(word, letters string) bool {
	for _, letter := range []byte(letters) {
		i := strings.IndexByte(word, letter)
		if i < 0 {
			return false
		}
		word = word[i+1:]
	}
	return true
}

// A signalError is the reason why a context was cancelled by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// A signalWatch cancels the context of a command when the program is interrupted or terminated.
type signalWatch struct {
	signals chan os.Signal

	mu      sync.Mutex
	handler func(os.Signal) bool // nil if signals end the command
	ended   bool                 // a signal has ended the command
}

func (w *signalWatch) notify() { signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM) }

// handle calls handler for the next signal, until restore is called. If handler returns true, the command continues, and the
// signal after that kills the program as usual. If it returns false, the signal ends the command.
func (w *signalWatch) handle(handler func(os.Signal) bool) (restore func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = handler
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.handler = nil
		if !w.ended {
			w.notify()
		}
	}
}

func (w *signalWatch) handles(s os.Signal) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	signal.Stop(w.signals)
	w.ended = w.handler == nil || !w.handler(s)
	return !w.ended
}

// untilSignal returns a context that the first interrupt or termination signal cancels,
// with a signalError as the cause. The second signal kills the program as usual. SIGPIPE is
// not handled: when the reader of the output ends, the program ends without a message.
func untilSignal(parent context.Context) (context.Context, *signalWatch, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	watch := &signalWatch{signals: make(chan os.Signal, 1)}
	watch.notify()
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-watch.signals:
				if watch.handles(s) {
					continue
				}
				cancel(signalError{s.(syscall.Signal)})
			case <-done:
			}
			return
		}
	}()
	return ctx, watch, func() {
		signal.Stop(watch.signals)
		close(done)
		cancel(nil)
	}
}
