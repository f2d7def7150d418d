package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/lock"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// Exit statuses. A signal gives 128 plus its number.
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no, or part of the input was bad
	exitFatal = 128
	exitUsage = 129
)

// errNo ends a command that answers "no", or that has already reported bad input. It prints nothing more.
var errNo = errors.New("no")

// errUsageShown ends a command that has printed the usage because the user asked for it.
var errUsageShown = errors.New("usage shown")

// A usageError is an invalid command line.
type usageError struct {
	msg     string
	command string // "" if no command was recognised
	usage   string
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

// badValue turns the error about an invalid value of an option into a usage error.
func badValue(option string, err error) error {
	if errors.Is(err, domarkx.ErrInvalid) {
		return usagef("%s: %v", option, err)
	}
	return err
}

// report prints the error that ended a command and returns the exit status.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if signal, ok := errors.AsType[signalError](err); ok {
		return 128 + int(signal.signal)
	}
	if errors.Is(err, errUsageShown) {
		return exitUsage
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		printError(w, err)
		if usage.usage != "" {
			fmt.Fprintf(w, "usage: %s\n", usage.usage)
		}
		fmt.Fprintf(w, "See '%s'.\n", strings.TrimSpace("git domarkx help "+usage.command))
		return exitUsage
	}
	if errors.Is(err, errNo) { // other errors beside it are reported
		status := exitNo
		for _, part := range joined(err) {
			status = max(status, report(w, part))
		}
		return status
	}
	if status, ok := errors.AsType[statusError](err); ok {
		return int(status)
	}
	printError(w, err)
	if isNo(err) {
		return exitNo
	}
	return exitFatal
}

// isNo reports whether an error is an answer to what was asked, not a failure of the program.
func isNo(err error) bool {
	return is[*syntax.Error](err) || is[*engine.RefusedError](err) || is[*turns.NotLiveError](err) || is[*trust.UntrustedError](err) ||
		is[*turns.SetupError](err) || is[*domarkx.ToolError](err) || is[*engine.PendingError](err) || is[*lock.BusyError](err) ||
		is[*observe.BusyError](err) || is[*pick.AmbiguousError](err) ||
		(is[*plugins.ResourceError](err) || is[*dirversion.ChangedError](err)) && !isTrouble(err)
}

// is reports whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// isTrouble reports whether err means that the disk is full, read-only or broken, or the
// repository corrupt. These errors are fatal.
func isTrouble(err error) bool {
	for _, trouble := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, domarkx.ErrCorrupt} {
		if errors.Is(err, trouble) {
			return true
		}
	}
	return false
}

// printError prints one error per line. An error in a document has the form PATH:LINE:COLUMN: MESSAGE, which editors understand;
// any other error follows the program's name.
func printError(w io.Writer, err error) {
	if parts := joined(err); parts != nil {
		for _, e := range parts {
			printError(w, e)
		}
		return
	}
	if syntax, ok := errors.AsType[*syntax.Error](err); ok && syntax.Path != "" {
		text := syntax.Error()
		if strings.HasPrefix(err.Error(), text) {
			text = err.Error() // the full text, including advice
		}
		fmt.Fprintln(w, visible(text))
		return
	}
	fmt.Fprintf(w, "git-domarkx: %s\n", visible(withHint(err)))
}

// withNew adds to the error about a session that does not exist the option that begins one.
func withNew(err error) error {
	if errors.Is(err, domarkx.ErrNoSession) {
		return fmt.Errorf("%w (--new begins it)", err)
	}
	return err
}

// withHint returns the text of an error. For a name that does not exist, it adds the command that
// lists the names, unless the text suggests a name or a command.
func withHint(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "did you mean"), strings.Contains(text, "git domarkx "):
	case errors.Is(err, domarkx.ErrNoSession):
		text += "; git domarkx list shows those there are"
	case errors.Is(err, domarkx.ErrNoWorkspace):
		text += "; git domarkx workspace list shows those there are"
	}
	return text
}

// joined returns the errors inside a result of [errors.Join]. It returns nil for an error
// that wraps several but has a message of its own.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	if parts := list.Unwrap(); errors.Join(parts...).Error() == err.Error() {
		return parts
	}
	return nil
}

// plainParseError rewrites an error of the parser as a plain sentence.
func plainParseError(err error) string {
	msg := strings.NewReplacer("<", "", ">", "", " ...", "").Replace(err.Error())
	if argument, ok := unexpectedArgument(err); ok {
		return fmt.Sprintf("unexpected argument %q", argument)
	}
	if flag, _, ok := strings.Cut(msg, ", did you mean "); ok && len(flag) == len("unknown flag -x") {
		return flag // every other letter is as near
	}
	if rest, ok := strings.CutPrefix(msg, `expected "`); ok {
		return "missing " + strings.TrimSuffix(rest, `"`)
	}
	return msg
}
