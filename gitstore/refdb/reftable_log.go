package refdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A logLine is a line of a reflog in the reftable backend.
type logLine struct {
	at     int // number of later lines
	now    string
	reason string // only if asked for
}

// logLines returns the lines of a reflog, the last one first. It is empty if there is none.
func (r *Refs) logLines(name string) ([]logLine, error) {
	length, ok, err := r.logLength(name)
	if err != nil || !ok {
		return nil, err
	}
	lines := make([]logLine, 0, length)
	for len(lines) < length {
		args := []string{"rev-parse"}
		for at := len(lines); at < min(length, len(lines)+most); at++ {
			args = append(args, fmt.Sprintf("%s@{%d}", name, at))
		}
		out, err := r.git.Run(r.ctx, nil, args...)
		ids := strings.Fields(string(out))
		if err == nil && len(ids) != len(args)-1 {
			err = fmt.Errorf("git prints %d ids for %d lines", len(ids), len(args)-1)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the reflog of %q: %w", name, err)
		}
		for _, id := range ids {
			lines = append(lines, logLine{at: len(lines), now: id})
		}
	}
	return lines, nil
}

// allLines returns the lines of the reflogs of references, the last one of each first. It omits lines whose objects do not
// exist: git reflog shows no others.
func (r *Refs) allLines(names []string) (map[string][]logLine, error) {
	logs := make(map[string][]logLine, len(names))
	for part := range slices.Chunk(names, most) {
		args := slices.Concat([]string{"reflog", "show", "--format=%H %gD %gs"}, part, []string{"--"})
		out, err := r.git.Run(r.ctx, nil, args...)
		if err != nil {
			return nil, fmt.Errorf("reading reflogs: %w", err)
		}
		for text := range strings.Lines(string(out)) {
			id, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
			selector, reason, _ := strings.Cut(rest, " ")
			name, number, _ := strings.Cut(selector, "@{")
			at, err := strconv.Atoi(strings.TrimSuffix(number, "}"))
			if err != nil {
				return nil, fmt.Errorf("reading reflogs: git prints %q", text)
			}
			logs[name] = append(logs[name], logLine{at, id, reason})
		}
	}
	return logs, nil
}

// logLength returns the number of lines of a reflog, and false if there is none.
func (r *Refs) logLength(name string) (int, bool, error) {
	_, err := r.git.Run(r.ctx, nil, "reflog", "exists", name)
	if err != nil {
		return 0, false, nilIfCode(err, 1)
	}
	// Git says the length only in the error for a line that does not exist.
	_, err = r.git.Run(r.ctx, nil, "rev-parse", "--verify", name+"@{99999999}")
	_, text, found := strings.Cut(errorText(err), "only has ")
	if strings.Contains(errorText(err), " is empty") {
		return 0, true, nil
	}
	digits, _, _ := strings.Cut(text, " ")
	n, parseErr := strconv.Atoi(digits)
	if !found || parseErr != nil {
		return 0, false, fmt.Errorf("reading the reflog of %q: git does not say its length: %w", name, err)
	}
	return n, true, nil
}

// logValues is [Refs.Reflog] for the reftable backend.
func (r *Refs) logValues(name string) (values []string, created bool, err error) {
	lines, err := r.logLines(name)
	if err != nil || len(lines) == 0 {
		return nil, false, err
	}
	for _, l := range lines {
		if !slices.Contains(values, l.now) {
			values = append(values, l.now)
		}
	}
	// The value before the first line, which Git counts after all lines.
	out, err := r.git.Run(r.ctx, nil, "rev-parse", "--verify", "-q", fmt.Sprintf("%s@{%d}", name, len(lines)))
	if err != nil {
		return values, true, nilIfCode(err, 128, 1)
	}
	if first := strings.TrimSpace(string(out)); !slices.Contains(values, first) {
		values = append(values, first)
	}
	return values, false, nil
}

// withLogs returns the references that have a reflog and that fit, also those that no longer exist.
func (r *Refs) withLogs(fits func(name string) bool) ([]string, error) {
	out, err := r.git.Run(r.ctx, nil, "reflog", "list")
	if err != nil {
		return nil, fmt.Errorf("clearing reflogs: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !fits(name) }), nil
}

// forgetTables is [Refs.Forget] for the reftable backend. It also removes the last lines, since git does not change the old
// values in them.
func (r *Refs) forgetTables(names []string) error {
	names, err := r.withLogs(func(name string) bool { return slices.Contains(names, name) })
	if err != nil {
		return err
	}
	for part := range slices.Chunk(names, most) {
		args := []string{"reflog", "expire", "--expire=all", "--expire-unreachable=all"}
		if _, err := r.git.Run(r.ctx, nil, append(args, part...)...); err != nil {
			return fmt.Errorf("clearing reflogs: %w", err)
		}
	}
	return r.compact()
}

// forgetLines removes lines from the reflogs of all references below prefixes, and the old values that they leave. It starts one
// git for many of them.
func (r *Refs) forgetLines(forgotten func(logLine) bool, prefixes []string) error {
	names, err := r.withLogs(func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
	if err != nil {
		return err
	}
	logs, err := r.allLines(names)
	if err != nil {
		return err
	}
	var selectors []string // of the lines to remove
	for _, name := range names {
		lines := logs[name]
		gone := slices.DeleteFunc(slices.Clone(lines), func(l logLine) bool { return !forgotten(l) })
		// Git does not change the old value of the first line that is left.
		if len(gone) > 0 {
			kept := slices.DeleteFunc(lines, forgotten)
			if n := len(kept); n > 0 && kept[n-1].at < gone[len(gone)-1].at {
				gone = append(gone, kept[n-1])
			}
		}
		slices.SortFunc(gone, func(a, b logLine) int { return b.at - a.at }) // the numbers of the others stay as they are
		for _, l := range gone {
			selectors = append(selectors, fmt.Sprintf("%s@{%d}", name, l.at))
		}
	}
	for part := range slices.Chunk(selectors, most) {
		// The old value of a line becomes the new one of the line before it.
		if _, err := r.git.Run(r.ctx, nil, append([]string{"reflog", "delete", "--rewrite"}, part...)...); err != nil {
			return fmt.Errorf("clearing reflogs: %w", err)
		}
	}
	return r.compact()
}

// most is the number of arguments of one git.
const most = 1000

// compact makes Git write the tables anew, so that removed lines are in no table.
func (r *Refs) compact() error {
	if _, err := r.git.Run(r.ctx, nil, "-c", "core.fsync=reference", "pack-refs", "--all"); err != nil {
		return fmt.Errorf("compacting the tables of references: %w", err)
	}
	return nil
}
