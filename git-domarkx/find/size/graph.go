package size

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A graph has the objects of this repository that references of sessions and workspaces reach. Nodes are numbers, because a graph is
// searched once for each session, and have no pointers, because there may be millions.
type graph struct {
	object.Reader
	isVersion func(id string) bool
	numbers   map[odb.ID]int32 // indexes in nodes
	nodes     []node
	next      [][]int32
}

// node returns the number of an object, which it adds if necessary.
func (g *graph) node(id odb.ID) int32 {
	n, known := g.numbers[id]
	if !known {
		n = int32(len(g.nodes))
		g.numbers[id] = n
		g.nodes = append(g.nodes, node{seen: -1})
	}
	return n
}

type node struct {
	bytes   int64  // on disk, compressed; 0 if the repository does not have it
	next    uint32 // the index in graph.next of what it refers to; 0 for nothing
	owner   int32  // the last session or workspace that reaches it
	seen    int32  // the number of the search that saw it last
	kind    Kind   // none before the graph has it
	owners  uint8  // how many sessions or workspaces reach it: 0, 1, or 2 for more
	outside bool   // a reference of another program reaches it
}

// A step is an object to be added to a graph.
type step struct {
	node int32
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

// add adds the objects that a commit reaches and the graph does not have. kind is that of the objects, or none if their paths say it.
func (g *graph) add(tip odb.ID, kind Kind) error {
	first := g.node(tip)
	if g.nodes[first].kind != none {
		return nil
	}
	g.nodes[first].kind = cmp.Or(kind, Messages)
	todo := []step{{first, tip, commit, kind}}
	var steps []step
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		var err error
		if steps, err = g.follow(steps[:0], s, kind == none); errors.Is(err, domarkx.ErrNotFound) {
			continue // a shallow or partial clone lacks some
		} else if err != nil {
			return err
		}
		next := make([]int32, 0, len(steps))
		for _, to := range steps {
			to.node = g.node(to.id)
			next = append(next, to.node)
			if n := &g.nodes[to.node]; n.kind == none {
				n.kind = cmp.Or(to.kind, Messages)
				if to.what != blob {
					todo = append(todo, to)
				}
			}
		}
		if len(next) > 0 {
			g.nodes[s.node].next = uint32(len(g.next))
			g.next = append(g.next, next)
		}
	}
	return nil
}

// follow appends the objects to which an object refers. byPath says that the path of an object gives its kind.
func (g *graph) follow(steps []step, s step, byPath bool) ([]step, error) {
	if s.what == commit {
		c, err := g.Commit(s.id)
		if err != nil {
			return nil, err
		}
		root := step{id: c.Tree, what: tree, kind: s.kind}
		if byPath && g.isVersion(s.id.String()) {
			g.nodes[s.node].kind, root.kind = Versions, Versions
		} else if byPath {
			root.what, root.kind = snapshot, Messages
		}
		steps = append(steps, root)
		for _, parent := range c.Parents {
			steps = append(steps, step{id: parent, what: commit, kind: s.kind})
		}
		return steps, nil
	}
	entries, err := g.Tree(s.id)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		to := step{id: e.ID, what: blob, kind: s.kind}
		if e.IsTree() {
			to.what = tree
		}
		if s.what == snapshot {
			to.kind = cmp.Or(kindOf[e.Name], Messages)
		}
		steps = append(steps, to)
	}
	return steps, nil
}

// kindOf lists the entries in the tree of a snapshot that are not messages (section 3 of gitstore/SPEC.md).
var kindOf = map[string]Kind{"source": Originals, "attachments": Attachments}

// reach calls visit for each node that tip reaches, once for all calls with the same number of a search.
func (g *graph) reach(tip odb.ID, search int32, visit func(*node)) {
	first, known := g.numbers[tip]
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
		for _, to := range g.next[g.nodes[n].next] {
			if g.nodes[to].seen != search {
				todo = append(todo, to)
			}
		}
	}
}

// markOutside marks the nodes that references of other programs reach, such as branches and tags.
func (g *graph) markOutside(ctx context.Context, git *gitcmd.Git) error {
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--exclude=refs/domarkx/*", "--exclude=refs/domarkx-*", "--all"}
	return git.Lines(ctx, gitcmd.Command{Args: args}, func(line []byte) error {
		id, err := odb.ParseID(string(line))
		if n, known := g.numbers[id]; err == nil && known {
			g.nodes[n].outside = true
		}
		return err
	})
}

func (g *graph) readSizes(ctx context.Context, git *gitcmd.Git) error {
	args := []string{"cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize:disk)"}
	return git.Lines(ctx, gitcmd.Command{Args: args}, func(line []byte) error {
		name, size, _ := bytes.Cut(line, []byte(" "))
		id, err := odb.ParseID(string(name))
		if n, known := g.numbers[id]; err == nil && known {
			g.nodes[n].bytes, err = strconv.ParseInt(string(size), 10, 64)
		}
		return err
	})
}
