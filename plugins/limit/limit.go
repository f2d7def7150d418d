// Package limit has the table of the limits that a person sets with git config, and that a document cannot raise, and
// chooses what a version leaves out to keep them.
package limit

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Limit is one row of the table.
type Limit struct {
	Key    string // of git config
	Unit   string // what is counted
	Bounds string // what has at most that many, for the help
	value  int64  // unless set
}

// halfMemory stands for half of the machine's memory.
const halfMemory = -1

// The limits of versions, of commands, and of a push.
var (
	File      = Limit{"domarkx.limit.file", "bytes", "a file in a version of a workspace", 1 << 30}
	Version   = Limit{"domarkx.limit.version", "bytes", "all files in a version of a resource", 20 << 30}
	Files     = Limit{"domarkx.limit.files", "files", "a version of a resource, with its directories", 1_000_000}
	Processes = Limit{"domarkx.limit.processes", "processes", "a command or a container, with their threads", 4096}
	Memory    = Limit{"domarkx.limit.memory", "bytes of memory", "a command or a container", halfMemory}
	Push      = Limit{"domarkx.limit.push", "bytes", "one push; more is sent in portions", 1 << 30}
)

// All lists the limits in the order of the help.
var All = []Limit{File, Version, Files, Processes, Memory, Push}

// Settings is Git's configuration.
type Settings interface {
	// Int returns a number, or fallback if it is not set.
	Int(key string, fallback int64) (int64, error)
}

// Of returns the limit, 0 for none. The error names the key.
func (l Limit) Of(config Settings) (int64, error) {
	n, err := config.Int(l.Key, l.value)
	if n == halfMemory && l.value == halfMemory {
		if set, _ := config.Int(l.Key, 0); set == 0 { // it is not set
			return memory() / 2, err
		}
	}
	if err == nil && n < 0 {
		err = fmt.Errorf("git config %s is %d: %w", l.Key, n, domarkx.ErrInvalid)
	}
	if err != nil {
		return 0, fmt.Errorf("%w; set a number of %s such as 500, 500k, 20m or 2g, or 0 for no limit", err, l.Unit)
	}
	return n, nil
}

// Default returns the limit unless it is set, for the help.
func (l Limit) Default() string {
	switch {
	case l.value == halfMemory:
		return "half of the machine's memory"
	case l.value >= 1<<30 && l.value%(1<<30) == 0:
		return fmt.Sprintf("%dg", l.value>>30)
	}
	return fmt.Sprint(l.value)
}

// Over says that something is over the limit, and which one.
func (l Limit) Over(most int64) string {
	return fmt.Sprintf("more than %d %s (git config %s)", most, l.Unit, l.Key)
}

// Read returns the limits of versions and commands.
func Read(config Settings) (domarkx.Limits, error) {
	var l domarkx.Limits
	for _, row := range []struct {
		limit Limit
		to    *int64
	}{{File, &l.File}, {Version, &l.Version}, {Files, &l.Files}, {Processes, &l.Processes}, {Memory, &l.Memory}} {
		var err error
		if *row.to, err = row.limit.Of(config); err != nil {
			return domarkx.Limits{}, err
		}
	}
	return l, nil
}

// Defaults returns the limits of versions and commands unless they are set.
func Defaults() domarkx.Limits {
	l, _ := Read(unset{}) // the defaults are valid
	return l
}

type unset struct{}

func (unset) Int(_ string, fallback int64) (int64, error) { return fallback, nil }

// The reasons for leaving a path out of a version.
const (
	ReasonFile    = "large"
	ReasonVersion = "version too large"
	ReasonFiles   = "too many files"
)

// OfReason returns the limit for which a version leaves something out.
func OfReason(reason string) (l Limit, ok bool) {
	l, ok = map[string]Limit{ReasonFile: File, ReasonVersion: Version, ReasonFiles: Files}[reason]
	return l, ok
}

// Help returns a list of the limits in Markdown.
func Help() string {
	var b strings.Builder
	for _, l := range All {
		fmt.Fprintf(&b, "- `%s`: the most %s of %s; %s unless set.\n", l.Key, l.Unit, l.Bounds, l.Default())
	}
	return b.String()
}
