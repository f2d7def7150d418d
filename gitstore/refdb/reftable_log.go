package refdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A logLine is a line of a reflog in the reftable backend whose object exists: git reflog shows no others.
type logLine struct {
	at     int // number of later lines
	now    string
	reason string
}

// logLines returns the lines of a reflog that exists, the last one first.
func (r *Refs) logLines(name string) ([]logLine, error) {
	out, err := r.git.Run(r.ctx, nil, "reflog", "show", "--format=%H %gd %gs", name, "--")
	if err != nil {
		return nil, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	var lines []logLine
	for text := range strings.Lines(string(out)) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		selector, reason, _ := strings.Cut(rest, " ")
		_, number, _ := strings.Cut(selector, "@{")
		at, err := strconv.Atoi(strings.TrimSuffix(number, "}"))
		if err != nil {
			return nil, fmt.Errorf("reading the reflog of %q: git prints %q", name, text)
		}
		lines = append(lines, logLine{at, id, reason})
	}
	return lines, nil
}

// logLength returns the number of lines of a reflog, and false if there is no reflog.
func (r *Refs) logLength(name string) (int, bool, error) {
	_, err := r.git.Run(r.ctx, nil, "reflog", "exists", name)
	if err != nil {
		return 0, false, nilIfCode(err, 1)
	}
	// Git says the length only in the error for a line that does not exist.
	_, err = r.git.Run(r.ctx, nil, "rev-parse", "--verify", name+"@{2000000000}")
	_, text, found := strings.Cut(errorText(err), "only has ")
	digits, _, _ := strings.Cut(text, " ")
	n, parseErr := strconv.Atoi(digits)
	if !found || parseErr != nil {
		return 0, false, fmt.Errorf("reading the reflog of %q: git does not say its length: %w", name, err)
	}
	return n, true, nil
}

// logValues is [Refs.Reflog] for the reftable backend. It omits values whose objects do not exist.
func (r *Refs) logValues(name string) (values []string, created bool, err error) {
	length, ok, err := r.logLength(name)
	if err != nil || !ok {
		return nil, false, err
	}
	lines, err := r.logLines(name)
	if err != nil {
		return nil, false, err
	}
	for _, l := range lines {
		if !slices.Contains(values, l.now) {
			values = append(values, l.now)
		}
	}
	// The value before the first line, which Git counts after all lines.
	out, err := r.git.Run(r.ctx, nil, "rev-parse", "--verify", "-q", fmt.Sprintf("%s@{%d}", name, length))
	if err != nil {
		return values, true, nilIfCode(err, 128, 1)
	}
	if first := strings.TrimSpace(string(out)); !slices.Contains(values, first) {
		values = append(values, first)
	}
	return values, false, nil
}

// forgetTables is [Refs.Forget] for one reference in the reftable backend.
func (r *Refs) forgetTables(name string) error {
	length, ok, err := r.logLength(name)
	if err != nil || !ok {
		return err
	}
	var lines []int
	for at := 1; at < length; at++ {
		lines = append(lines, at)
	}
	if err := r.deleteLines(name, lines); err != nil {
		return err
	}
	return r.adjustLogs(name)
}

// forgetLines removes lines from the reflogs of all references below prefixes, and the old values that they leave.
func (r *Refs) forgetLines(forgotten func(logLine) bool, prefixes []string) error {
	out, err := r.git.Run(r.ctx, nil, "reflog", "list")
	if err != nil {
		return fmt.Errorf("clearing reflogs: %w", err)
	}
	var names []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSuffix(name, "\n")
		if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		lines, err := r.logLines(name)
		if err != nil {
			return err
		}
		var gone []int
		for _, l := range lines {
			if forgotten(l) {
				gone = append(gone, l.at)
			}
		}
		if err := r.deleteLines(name, gone); err != nil {
			return fmt.Errorf("clearing the reflog of %q: %w", name, err)
		}
		names = append(names, name)
	}
	if err := r.adjustLogs(names...); err != nil {
		return fmt.Errorf("clearing reflogs: %w", err)
	}
	return r.compact()
}

// most is the number of arguments of one git.
const most = 1000

// deleteLines removes lines from a reflog.
func (r *Refs) deleteLines(name string, lines []int) error {
	slices.Sort(lines)
	slices.Reverse(lines) // the numbers of the others stay as they are
	for part := range slices.Chunk(lines, most) {
		args := []string{"reflog", "delete", "--rewrite"}
		for _, at := range part {
			args = append(args, fmt.Sprintf("%s@{%d}", name, at))
		}
		if _, err := r.git.Run(r.ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// adjustLogs makes the old value of each line the new one of the line before it, and that of the first one zeros.
func (r *Refs) adjustLogs(names ...string) error {
	for part := range slices.Chunk(names, most) {
		args := append([]string{"reflog", "expire", "--rewrite", "--expire=never", "--expire-unreachable=never"}, part...)
		if _, err := r.git.Run(r.ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// compact makes Git write the tables anew, so that removed lines are in no table. In the files backend it does nothing.
func (r *Refs) compact() error {
	if !r.git.Reftable {
		return nil
	}
	if _, err := r.git.Run(r.ctx, nil, "-c", "core.fsync=reference", "pack-refs", "--all"); err != nil {
		return fmt.Errorf("compacting the tables of references: %w", err)
	}
	return nil
}
