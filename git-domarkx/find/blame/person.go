package blame

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A committed is the commit that introduced a line, as git blame reports it.
type committed struct {
	commit, path string
	line         int // the line's number in that commit, from 0
	date         int64
}

// ask runs git blame for the lines without an origin. It then follows the content of the commits
// that introduced them, as for the content of the work tree.
func (t *trace) ask(ctx context.Context, first, last int) error {
	open := 0
	for i := first - 1; i < last; i++ {
		if !t.known[i] {
			open++
		}
	}
	if open == 0 {
		return nil
	}
	lines, err := t.m.committed(ctx, t.path, first, last)
	if err != nil || lines == nil {
		return err
	}
	groups := map[[2]string][]place{}
	var order [][2]string
	for i := first - 1; i < last; i++ {
		c, ok := lines[i]
		if !ok || t.known[i] {
			continue
		}
		t.found[i].Commit, t.found[i].Date = c.commit, c.date
		key := [2]string{c.commit, c.path}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], place{at: c.line, line: i})
	}
	for _, key := range order {
		if err := t.commit(ctx, key[0], key[1], groups[key]); err != nil {
			return err
		}
	}
	return nil
}

// commit finds the origins of lines that a commit introduced in the file at path.
func (t *trace) commit(ctx context.Context, commit, path string, open []place) error {
	data, err := t.m.git.Run(ctx, nil, "cat-file", "blob", commit+":"+path)
	if err != nil || len(data) > MaxSize {
		return ctx.Err() // a submodule, or an object that a partial clone does not have
	}
	there, err := t.named(ctx, path)
	if err != nil {
		return err
	}
	past := there.past
	now := contentOf(t.m.git.Hash, past.seed, data)
	for _, p := range open {
		if p.at >= len(now.lines) {
			return nil
		}
	}
	return there.follow(ctx, now, len(past.events), open)
}

// uncommitted returns the lines of a text that are not in the commit of HEAD that an observation
// records. Lines in that commit are older than the turns during which the version was observed.
func (t *trace) uncommitted(ctx context.Context, o *domarkx.Observation, now content, open []place) []place {
	if o == nil || o.Head == "" {
		return open
	}
	data, err := t.m.git.Run(ctx, nil, "cat-file", "blob", o.Head+":"+t.path)
	if err != nil || len(data) > MaxSize {
		return open // the file is not in that commit, or the commit is gone
	}
	to := match(digests(t.past.seed, data), now.lines)
	return slices.DeleteFunc(slices.Clone(open), func(p place) bool { return to[p.at] >= 0 })
}

// committed runs git blame. It returns nil if no commit contains the file.
func (m *Manager) committed(ctx context.Context, path string, first, last int) (map[int]committed, error) {
	out, err := m.git.Run(ctx, nil, "-C", m.git.WorkTree, "-c", "blame.ignoreRevsFile=", "blame", "--line-porcelain", "-L", strconv.Itoa(first)+","+strconv.Itoa(last), "--", path)
	var failed *gitcmd.Error
	if errors.As(err, &failed) && failed.Code == 128 && ctx.Err() == nil {
		return nil, nil // the file is in no commit, or there is none
	}
	if err != nil {
		return nil, err
	}
	lines := map[int]committed{}
	var c committed
	at := 0
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, MaxSize+1)
	head := true
	for scan.Scan() {
		line := scan.Text()
		fields := strings.Fields(line)
		switch {
		case head && len(fields) >= 3:
			c = committed{commit: fields[0]}
			n, err := strconv.Atoi(fields[1])
			to, err2 := strconv.Atoi(fields[2])
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			c.line, at, head = n-1, to-1, false
		case strings.HasPrefix(line, "\t"):
			if strings.Trim(c.commit, "0") != "" {
				lines[at] = c
			}
			head = true
		case strings.HasPrefix(line, "committer-time "):
			c.date, _ = strconv.ParseInt(fields[1], 10, 64)
		case strings.HasPrefix(line, "filename "):
			c.path = unquote(strings.TrimPrefix(line, "filename "))
		}
	}
	return lines, scan.Err()
}

// unquote undoes Git's quoting of unusual names.
func unquote(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}
