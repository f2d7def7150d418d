// Package basis says what a save is based on: the version of a session that a process, or its group, last read or
// wrote under a name.
package basis

// A Version is one state of the content of a session's file: a program may have read
// it, and a save may be based on it. It becomes a snapshot, or is replaced by a version
// that was made from it.
type Version struct {
	ID   string   // the snapshot that holds it, or ""
	Prev *Version // the version that it was made from; nil for a new session or once ID is set
}

// Base returns the newest snapshot that the version is or is based on, or "".
func (e *Version) Base() string {
	for ; e != nil; e = e.Prev {
		if e.ID != "" {
			return e.ID
		}
	}
	return ""
}

// From reports whether e is other or was made from it, directly or in several steps.
func (e *Version) From(other *Version) bool {
	for ; e != nil; e = e.Prev {
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

// maxReads is the number of reads that are remembered.
const maxReads = 8192

type readKey struct {
	who  uint64
	kind byte // 'p' or 'g'
	name string
}

// Reads remember which version each process and process group last read under a name. They
// are bounded: when they are full, the oldest half is dropped.
type Reads struct {
	young, old map[readKey]*Version
}

// Put notes that a process read or wrote a version.
func (r *Reads) Put(c Caller, name string, e *Version) {
	if r.young == nil || len(r.young) >= maxReads/2 {
		r.young, r.old = map[readKey]*Version{}, r.young
	}
	if c.Process != 0 {
		r.young[readKey{c.Process, 'p', name}] = e
	}
	if c.Group != 0 {
		r.young[readKey{c.Group, 'g', name}] = e
	}
}

// Get returns the version that the process, or else its group, last read or wrote under
// the name, or nil.
func (r *Reads) Get(c Caller, name string) *Version {
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

// Forget drops all reads of a name, because the name will belong to another session.
func (r *Reads) Forget(name string) {
	for _, m := range []map[readKey]*Version{r.young, r.old} {
		for key := range m {
			if key.name == name {
				delete(m, key)
			}
		}
	}
}
