//go:build linux || darwin

package workspaces

// A table maps ids to nodes. Ids are assigned in order, so the nodes of a listing share
// few pages.
type table map[uint64]*page

const pageNodes = 256

type page struct {
	nodes [pageNodes]*node
	used  int
}

func (t table) get(id uint64) *node {
	if p := t[id/pageNodes]; p != nil {
		return p.nodes[id%pageNodes]
	}
	return nil
}

// put adds a node whose id is not in the table.
func (t table) put(n *node) {
	p := t[n.id/pageNodes]
	if p == nil {
		p = &page{}
		t[n.id/pageNodes] = p
	}
	p.nodes[n.id%pageNodes] = n
	p.used++
}

// remove removes a node that is in the table.
func (t table) remove(id uint64) {
	p := t[id/pageNodes]
	p.nodes[id%pageNodes] = nil
	if p.used--; p.used == 0 {
		delete(t, id/pageNodes)
	}
}
