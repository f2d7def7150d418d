package gitcmd

import (
	"bytes"
	"context"
)

// WorkTrees returns the top directories of all work trees of the repository, as git-worktree(1)
// lists them. Some may not exist any more.
func (g *Git) WorkTrees(ctx context.Context) ([]string, error) {
	out, err := g.Run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var tops []string
	for record := range bytes.SplitSeq(out, []byte("\x00\x00")) {
		top := ""
		for line := range bytes.SplitSeq(record, []byte{0}) {
			if path, ok := bytes.CutPrefix(line, []byte("worktree ")); ok {
				top = string(path)
			}
			if string(line) == "bare" {
				top = ""
			}
		}
		if top != "" {
			tops = append(tops, top)
		}
	}
	return tops, nil
}
