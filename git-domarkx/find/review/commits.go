package review

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// A log holds the commits of a change by the files that they touch. Where only one does, git blame, which takes a process
// for each file, has nothing to add.
type log struct {
	touched map[string][]blame.Commit
	unclear map[string]bool // files that were renamed, or that differ from the newest commit
}

// only returns the commit that alone can have introduced lines of a file, one without an ID if none can, and nil if
// there are several.
func (l log) only(path string) *blame.Commit {
	commits := l.touched[path]
	switch {
	case len(commits) == 0 && !l.unclear[path]:
		return &blame.Commit{}
	case len(commits) == 1 && !l.unclear[path]:
		return &commits[0]
	}
	return nil
}

func (m *Manager) commits(ctx context.Context, c compared) (log, error) {
	l := log{map[string][]blame.Commit{}, map[string]bool{}}
	head := c.to
	if head == Index || head == WorkTree {
		if head = m.find(ctx, "HEAD"); head == "" {
			return l, nil
		}
		args := append([]string(nil), options...)
		if c.to == Index {
			args = append(args, "--cached")
		}
		out, err := m.Git.Run(ctx, nil, append(args, "--name-only", "--no-renames", "-z", head, "--")...)
		if err != nil {
			return l, err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			l.unclear[name] = true
		}
	}
	args := []string{"log", "--no-show-signature", "--no-color", "--no-ext-diff", "--no-textconv", "-O" + os.DevNull, "--diff-merges=separate", "--find-renames", "--name-status", "-z", "--format=%x01%H%x00%ct%x00%an%x00", head}
	if c.since != "" {
		args = append(args, "^"+c.since)
	}
	out, err := m.Git.Run(ctx, nil, append(args, "--")...)
	if err != nil {
		return l, err
	}
	l.read(out)
	return l, nil
}

// read reads commits: \x01 ID NUL TIME NUL NAME NUL, and for each file STATUS NUL PATH NUL, for a rename STATUS NUL OLD NUL NEW NUL.
// Git puts more NULs and LFs between them.
func (l log) read(out []byte) {
	fields := bytes.Split(out, []byte{0})
	var c blame.Commit
	for i := 0; i < len(fields); i++ {
		field := strings.TrimLeft(string(fields[i]), "\n")
		id, isCommit := strings.CutPrefix(field, "\x01")
		switch {
		case isCommit && i+2 < len(fields):
			c = blame.Commit{ID: id, Author: string(fields[i+2])}
			c.Date, _ = strconv.ParseInt(string(fields[i+1]), 10, 64)
			i += 2
		case (strings.HasPrefix(field, "R") || strings.HasPrefix(field, "C")) && i+2 < len(fields):
			l.unclear[string(fields[i+2])] = true
			i += 2
		case field != "" && i+1 < len(fields):
			name := string(fields[i+1])
			l.touched[name] = append(l.touched[name], c)
			i++
		}
	}
}

// A Commit is a commit in a list.
type Commit struct {
	ID, Author, Subject string
	Date                int64 // Unix seconds
}

// Commits returns the newest commits of HEAD, at most n, masked.
func (m *Manager) Commits(ctx context.Context, n int) (all []Commit, err error) {
	head := m.find(ctx, "HEAD")
	if head == "" {
		return nil, ctx.Err()
	}
	mask, err := m.newMask(ctx)
	if err != nil {
		return nil, err
	}
	out, err := m.Git.Run(ctx, nil, "log", "--no-show-signature", "--no-color", "-z", "--max-count="+strconv.Itoa(n), "--format=%H%n%ct%n%an%n%s", head, "--")
	if err != nil {
		return nil, err
	}
	for record := range strings.SplitSeq(string(out), "\x00") {
		fields := strings.SplitN(record, "\n", 4)
		if len(fields) == 4 {
			date, _ := strconv.ParseInt(fields[1], 10, 64)
			all = append(all, Commit{ID: fields[0], Author: mask.text(fields[2]), Subject: mask.text(fields[3]), Date: date})
		}
	}
	return all, nil
}
