package blame

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
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
	author       string
	boundary     bool // the line may be older
}

// ask runs git blame for the wanted lines without an origin. It then follows the content of the commits
// that introduced them, as for the text itself.
func (t *trace) ask(ctx context.Context, text Text, wanted []place) error {
	var open []Range
	for _, p := range wanted {
		if !t.known[p.line] {
			open = Extend(open, p.line+1)
		}
	}
	if len(open) == 0 {
		return nil
	}
	if c := text.Blamed; c != nil {
		for _, p := range wanted {
			if !t.known[p.line] {
				t.found[p.line].Commit, t.found[p.line].Author, t.found[p.line].Date = c.ID, c.Author, c.Date
			}
		}
		return nil
	}
	lines, err := t.s.m.committed(ctx, text, open)
	if err != nil || lines == nil {
		return err
	}
	groups := map[[2]string][]place{}
	var order [][2]string
	for _, p := range wanted {
		i := p.line
		c, ok := lines[i]
		if !ok || t.known[i] {
			continue
		}
		t.found[i].Commit, t.found[i].Author, t.found[i].Date = c.commit, c.author, c.date
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
	data, err := t.s.m.git.Run(ctx, nil, "cat-file", "blob", commit+":"+path)
	if err != nil || len(data) > MaxSize {
		return ctx.Err() // a submodule, or an object that a partial clone does not have
	}
	there, err := t.named(ctx, path)
	if err != nil {
		return err
	}
	past := there.past
	now := contentOf(t.s.m.git.Hash, past.seed, data)
	if slices.ContainsFunc(open, func(p place) bool { return p.at >= len(now.lines) }) {
		return nil
	}
	return there.follow(ctx, now, len(past.events), open)
}

// uncommitted returns the lines of a text that are not in the commit of HEAD that an observation
// records. Lines in that commit are older than the turns during which the version was observed.
func (t *trace) uncommitted(ctx context.Context, o *domarkx.Observation, now content, open []place) []place {
	if o == nil || o.Head == "" {
		return open
	}
	data, err := t.s.m.git.Run(ctx, nil, "cat-file", "blob", o.Head+":"+t.path)
	if err != nil || len(data) > MaxSize {
		return open // the file is not in that commit, or the commit is gone
	}
	to := match(digests(t.past.seed, data), now.lines)
	return slices.DeleteFunc(slices.Clone(open), func(p place) bool { return to[p.at] >= 0 })
}

// maxRanges is the maximum number of ranges that git blame is asked about; of more, it is asked about all lines between.
const maxRanges = 200

// committed runs git blame. It returns nil if no commit contains the file.
func (m *Manager) committed(ctx context.Context, text Text, open []Range) (map[int]committed, error) {
	args := []string{"-c", "blame.ignoreRevsFile=", "blame", "--line-porcelain", "--no-textconv"}
	if m.git.WorkTree != "" {
		args = append([]string{"-C", m.git.WorkTree}, args...)
	}
	if len(open) > maxRanges {
		open = []Range{{open[0].First, open[len(open)-1].Last}}
	}
	for _, r := range open {
		args = append(args, "-L", strconv.Itoa(r.First)+","+strconv.Itoa(r.Last))
	}
	var in io.Reader
	if text.Staged {
		in = bytes.NewReader(text.Data)
		args = append(args, "--contents", "-")
	}
	if text.Since != "" {
		args = append(args, "^"+text.Since)
	}
	if text.Commit != "" {
		args = append(args, text.Commit)
	}
	out, err := m.git.Run(ctx, in, append(args, "--", text.Path)...)
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
		key, value, _ := strings.Cut(line, " ")
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
			if strings.Trim(c.commit, "0") != "" && !c.boundary {
				lines[at] = c
			}
			head = true
		case line == "boundary":
			c.boundary = text.Since != ""
		case key == "author":
			c.author = value
		case strings.HasPrefix(line, "committer-time "):
			c.date, _ = strconv.ParseInt(fields[1], 10, 64)
		case strings.HasPrefix(line, "filename "):
			c.path = gitcmd.UnquotedPath(strings.TrimPrefix(line, "filename "))
		}
	}
	return lines, scan.Err()
}
