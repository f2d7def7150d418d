package size

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A graph has the objects of this repository that references of sessions and workspaces reach. Nodes are numbers, because a graph is
// searched once for each session.
type graph struct {
	object.Reader
	isVersion func(odb.ID) bool
	index     map[odb.ID]int32 // all objects of the repository
	nodes     []node
}

type node struct {
	bytes   int64 // on disk, compressed
	next    []int32
	kind    Kind  // "" before the graph has it
	outside bool  // a reference of another program reaches it
	owners  uint8 // how many sessions or workspaces reach it: 0, 1, or 2 for more
	owner   int32 // the last of them
	seen    int32 // the number of the search that saw it last
}

// A step is an object to be added to a graph.
type step struct {
	id   odb.ID
	what objectType
	kind Kind
}

type objectType uint8

const (
	commit   objectType = iota
	snapshot            // the tree of a session's commit
	tree
	blob
)

// add adds the objects that a commit reaches and the graph does not have. kind is that of the objects, or "" if their paths say it.
func (g *graph) add(tip odb.ID, kind Kind) error {
	first, here := g.index[tip]
	if !here || g.nodes[first].kind != "" {
		return nil
	}
	g.nodes[first].kind = cmp.Or(kind, Messages)
	todo := []step{{tip, commit, kind}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		steps, err := g.follow(s, kind == "")
		if err != nil {
			return err
		}
		next := make([]int32, 0, len(steps))
		for _, to := range steps {
			n, here := g.index[to.id]
			if !here {
				continue // a shallow or partial clone lacks some
			}
			next = append(next, n)
			if g.nodes[n].kind == "" {
				g.nodes[n].kind = cmp.Or(to.kind, Messages)
				if to.what != blob {
					todo = append(todo, to)
				}
			}
		}
		g.nodes[g.index[s.id]].next = next
	}
	return nil
}

// follow returns the objects to which an object refers. byPath says that the path of an object gives its kind.
func (g *graph) follow(s step, byPath bool) ([]step, error) {
	if s.what == commit {
		c, err := g.Commit(s.id)
		if err != nil {
			return nil, err
		}
		root := step{c.Tree, tree, s.kind}
		if byPath && g.isVersion(s.id) {
			g.nodes[g.index[s.id]].kind, root.kind = Versions, Versions
		} else if byPath {
			root = step{c.Tree, snapshot, Messages}
		}
		steps := []step{root}
		for _, parent := range c.Parents {
			steps = append(steps, step{parent, commit, s.kind})
		}
		return steps, nil
	}
	entries, err := g.Tree(s.id)
	if err != nil {
		return nil, err
	}
	steps := make([]step, 0, len(entries))
	for _, e := range entries {
		to := step{e.ID, blob, s.kind}
		if e.IsTree() {
			to.what = tree
		}
		if s.what == snapshot {
			to.kind = kindOf(e.Name)
		}
		steps = append(steps, to)
	}
	return steps, nil
}

// kindOf returns the kind of the entry with a name in the tree of a snapshot (section 3 of gitstore/SPEC.md).
func kindOf(name string) Kind {
	switch name {
	case "source":
		return Originals
	case "attachments":
		return Attachments
	}
	return Messages
}

// reach calls visit for each node that tip reaches, once for all calls with the same number of a search.
func (g *graph) reach(tip odb.ID, search int32, visit func(*node)) {
	first, known := g.index[tip]
	if !known {
		return
	}
	todo := []int32{first}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if g.nodes[n].seen == search {
			continue
		}
		g.nodes[n].seen = search
		visit(&g.nodes[n])
		for _, to := range g.nodes[n].next {
			if g.nodes[to].seen != search {
				todo = append(todo, to)
			}
		}
	}
}

// markOutside marks the nodes that references of other programs reach, such as branches and tags.
func (g *graph) markOutside(ctx context.Context, git *gitcmd.Git) error {
	return eachLine(ctx, git, func(line string) error {
		id, err := odb.ParseID(line)
		if n, known := g.index[id]; err == nil && known {
			g.nodes[n].outside = true
		}
		return err
	}, "rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--exclude=refs/domarkx/*", "--exclude=refs/domarkx-*", "--all")
}

// readObjects makes a node for each object of the repository and its alternates.
func (g *graph) readObjects(ctx context.Context, git *gitcmd.Git) error {
	return eachLine(ctx, git, func(line string) error {
		name, size, _ := strings.Cut(line, " ")
		id, err := odb.ParseID(name)
		if err != nil {
			return err
		}
		bytes, err := strconv.ParseInt(size, 10, 64)
		g.index[id] = int32(len(g.nodes))
		g.nodes = append(g.nodes, node{bytes: bytes})
		return err
	}, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objectsize:disk)")
}

// eachLine calls visit for each line that git prints.
func eachLine(ctx context.Context, git *gitcmd.Git, visit func(string) error, args ...string) error {
	p, err := git.Start(ctx, args...)
	if err != nil {
		return err
	}
	if err := p.Stdin.Close(); err != nil {
		return err
	}
	lines := bufio.NewScanner(p.Stdout)
	for err == nil && lines.Scan() {
		err = visit(lines.Text())
	}
	if err == nil {
		err = lines.Err()
	}
	if err != nil {
		err = fmt.Errorf("read the output of git %s: %w", args[0], err)
		_, _ = io.Copy(io.Discard, p.Stdout)
	}
	return errors.Join(err, p.Wait())
}
