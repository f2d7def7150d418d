package sessions

// A baseVersion is one state of the content of a session's file: a program may have read
// it, and a save may be based on it. It becomes a snapshot, or is replaced by a version
// that was made from it.
type baseVersion struct {
	id   string       // the snapshot that holds it, or ""
	prev *baseVersion // the version that it was made from; nil for a new session or once id is set
}

// base returns the newest snapshot that the version is or is based on, or "".
func (e *baseVersion) base() string {
	for ; e != nil; e = e.prev {
		if e.id != "" {
			return e.id
		}
	}
	return ""
}

// from reports whether e is other or was made from it, directly or in several steps.
func (e *baseVersion) from(other *baseVersion) bool {
	for ; e != nil; e = e.prev {
		if e == other {
			return true
		}
	}
	return false
}

// A Caller is the process that accesses a file.
type Caller struct {
	Process uint64 // identifies the process even if its pid is reused; 0 if unknown
	Group   uint64 // its process group; 0 if unknown
}

const maxReads = 8192

type readKey struct {
	who  uint64
	kind byte // 'p' or 'g'
	name string
}

// reads remembers which version each process and process group last read under a name. It
// is bounded: when it is full, it drops the oldest half.
type reads struct {
	young, old map[readKey]*baseVersion
}

func (r *reads) put(c Caller, name string, e *baseVersion) {
	if r.young == nil || len(r.young) >= maxReads/2 {
		r.young, r.old = map[readKey]*baseVersion{}, r.young
	}
	if c.Process != 0 {
		r.young[readKey{c.Process, 'p', name}] = e
	}
	if c.Group != 0 {
		r.young[readKey{c.Group, 'g', name}] = e
	}
}

// get returns the version that the process, or else its group, last read or wrote under
// the name, or nil.
func (r *reads) get(c Caller, name string) *baseVersion {
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

// forget drops all reads of a name, because the name will belong to another session.
func (r *reads) forget(name string) {
	for _, m := range []map[readKey]*baseVersion{r.young, r.old} {
		for key := range m {
			if key.name == name {
				delete(m, key)
			}
		}
	}
}
