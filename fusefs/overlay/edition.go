package overlay

// An edition is one content of a session's file: what somebody can have read, and
// what a save can have been made from. It becomes a snapshot, or is only a step to
// one.
type edition struct {
	id   string   // the snapshot that holds it; "" while there is none
	prev *edition // what it was made from; nil for a new session, or once id is known
}

// base returns the newest snapshot that the edition is or was made from, "" when
// there is none.
func (e *edition) base() string {
	for ; e != nil; e = e.prev {
		if e.id != "" {
			return e.id
		}
	}
	return ""
}

// from reports whether the edition is other, or was made from it.
func (e *edition) from(other *edition) bool {
	for ; e != nil; e = e.prev {
		if e == other {
			return true
		}
	}
	return false
}

// A Caller is a process that does something to a file.
type Caller struct {
	Process uint64 // identifies the process, also after its number was given to another; 0 when unknown
	Group   uint64 // its process group; 0 when unknown
}

const maxReads = 8192

type readKey struct {
	who  uint64
	kind byte // 'p' or 'g'
	name string
}

// reads remembers what was last read, by process and process group and name. It
// is bounded: the oldest half is forgotten when it is full.
type reads struct {
	young, old map[readKey]*edition
}

func (r *reads) put(c Caller, name string, e *edition) {
	if r.young == nil || len(r.young) >= maxReads/2 {
		r.young, r.old = map[readKey]*edition{}, r.young
	}
	if c.Process != 0 {
		r.young[readKey{c.Process, 'p', name}] = e
	}
	if c.Group != 0 {
		r.young[readKey{c.Group, 'g', name}] = e
	}
}

// get returns what the process, or else its group, last read or wrote under the
// name; nil when that is not known.
func (r *reads) get(c Caller, name string) *edition {
	for _, key := range []readKey{{c.Process, 'p', name}, {c.Group, 'g', name}} {
		if key.who == 0 {
			continue
		}
		if e := r.young[key]; e != nil {
			return e
		}
		if e := r.old[key]; e != nil {
			r.young[key] = e
			return e
		}
	}
	return nil
}

// forget drops what was read under a name: it is another session's from now on.
func (r *reads) forget(name string) {
	for _, m := range []map[readKey]*edition{r.young, r.old} {
		for key := range m {
			if key.name == name {
				delete(m, key)
			}
		}
	}
}
