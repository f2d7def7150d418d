package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	domarkx "github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/plugins"
)

// The exit statuses; signals give 128 and their number.
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no, or some input was bad
	exitFatal = 128
	exitUsage = 129
)

// errNo ends a command whose answer is no, or that has reported bad input
// already; nothing more is printed.
var errNo = errors.New("no")

// errUsageShown ends a command that printed its usage because it was asked to.
var errUsageShown = errors.New("usage shown")

// A usageError is a command line that cannot be understood.
type usageError struct {
	msg     string
	command string // "" when none was recognised
	usage   string
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

// report prints the error that ended a command and returns the exit status.
func report(w io.Writer, err error) int {
	var signal signalError
	var usage *usageError
	var syntax *domarkx.SyntaxError
	var refused *engine.RefusedError
	var notLive *engine.NotLiveError
	var untrusted *engine.UntrustedError
	var setup *engine.SetupError
	var tool *domarkx.ToolError
	var resource *plugins.ResourceError
	var pending *engine.PendingError
	var status statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &signal):
		return 128 + int(signal.signal)
	case errors.Is(err, errUsageShown):
		return exitUsage
	case errors.As(err, &usage):
		printError(w, err)
		if usage.usage != "" {
			fmt.Fprintf(w, "usage: %s\n", usage.usage)
		}
		fmt.Fprintf(w, "See 'git domarkx help%s'.\n", spaced(usage.command))
		return exitUsage
	case errors.Is(err, errNo):
		return reportBeside(w, err)
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &syntax), errors.As(err, &refused), errors.As(err, &notLive),
		errors.As(err, &untrusted), errors.As(err, &setup), errors.As(err, &tool), errors.As(err, &pending):
		printError(w, err)
		return exitNo
	case errors.As(err, &resource) && !isTrouble(err):
		printError(w, err)
		return exitNo
	}
	printError(w, err)
	return exitFatal
}

// isTrouble reports whether a disk is full, read-only or broken, which is fatal to
// whatever needed it.
func isTrouble(err error) bool {
	for _, trouble := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, domarkx.ErrCorrupt} {
		if errors.Is(err, trouble) {
			return true
		}
	}
	return false
}

// reportBeside reports what else went wrong in a command whose answer is no.
func reportBeside(w io.Writer, err error) int {
	status := exitNo
	for _, part := range joined(err) {
		status = max(status, report(w, part))
	}
	return status
}

// printError prints one error a line: a wrong document as PATH:LINE:COLUMN:
// MESSAGE, which editors understand, anything else after the program's name.
func printError(w io.Writer, err error) {
	if parts := joined(err); parts != nil {
		for _, e := range parts {
			printError(w, e)
		}
		return
	}
	var syntax *domarkx.SyntaxError
	if errors.As(err, &syntax) && syntax.Path != "" {
		text := syntax.Error()
		if strings.HasPrefix(err.Error(), text) {
			text = err.Error() // with what to do about it
		}
		fmt.Fprintln(w, visible(text))
		return
	}
	fmt.Fprintf(w, "git-domarkx: %s\n", visible(err.Error()))
}

// printWarning prints what is wrong with something that was taken all the same.
func printWarning(w io.Writer, err error) {
	var syntax *domarkx.SyntaxError
	if !errors.As(err, &syntax) {
		printError(w, fmt.Errorf("warning: %w", err))
		return
	}
	warning := *syntax
	if warning.Pointer != "" {
		warning.Msg = warning.Pointer + ": " + warning.Msg
	}
	warning.Pointer, warning.Msg = "", "warning: "+warning.Msg
	printError(w, &warning)
}

// joined returns the errors that [errors.Join] made one of, and nil for an error
// that speaks of several in a sentence of its own.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var lines []string
	for _, e := range list.Unwrap() {
		lines = append(lines, e.Error())
	}
	if strings.Join(lines, "\n") != err.Error() {
		return nil
	}
	return list.Unwrap()
}

// plainParseError says in one sentence what the parser did not understand.
func plainParseError(err error) string {
	msg := strings.NewReplacer("<", "", ">", "", " ...", "").Replace(err.Error())
	if argument, ok := unexpectedArgument(err); ok {
		return fmt.Sprintf("unexpected argument %q", argument)
	}
	if rest, ok := strings.CutPrefix(msg, `expected "`); ok {
		return "missing " + strings.TrimSuffix(rest, `"`)
	}
	return msg
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
