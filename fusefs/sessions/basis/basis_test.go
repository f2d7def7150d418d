package basis_test

import (
	"strconv"
	"testing"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// TestVersions: a version is based on the newest snapshot from which it was made.
func TestVersions(t *testing.T) {
	stored := &basis.Version{ID: "s1"}
	first := &basis.Version{Prev: stored}
	second := &basis.Version{Prev: first}
	fresh := &basis.Version{}
	for name, test := range map[string]struct {
		version *basis.Version
		base    string
		from    *basis.Version
		want    bool
	}{
		"a snapshot":             {stored, "s1", stored, true},
		"two saves later":        {second, "s1", stored, true},
		"an earlier save":        {first, "s1", second, false},
		"a new session":          {fresh, "", stored, false},
		"nothing":                {nil, "", stored, false},
		"something from nothing": {second, "s1", fresh, false},
	} {
		if got := test.version.Base(); got != test.base {
			t.Errorf("%s: based on %q, want %q", name, got, test.base)
		}
		if got := test.version.From(test.from); got != test.want {
			t.Errorf("%s: from the other %t, want %t", name, got, test.want)
		}
	}
}

// TestReads: a process knows what it read itself before what its group read, and nothing that others read.
func TestReads(t *testing.T) {
	var r basis.Reads
	mine, group := &basis.Version{ID: "mine"}, &basis.Version{ID: "group"}
	r.Put(basis.Caller{Process: 1, Group: 7}, "s", mine)
	r.Put(basis.Caller{Process: 2, Group: 7}, "s", group)
	for name, test := range map[string]struct {
		who  basis.Caller
		file string
		want *basis.Version
	}{
		"the process":           {basis.Caller{Process: 1, Group: 7}, "s", mine},
		"another of the group":  {basis.Caller{Process: 3, Group: 7}, "s", group},
		"an unknown process":    {basis.Caller{Group: 7}, "s", group},
		"another file":          {basis.Caller{Process: 1, Group: 7}, "t", nil},
		"a stranger":            {basis.Caller{Process: 7, Group: 1}, "s", nil},
		"nobody":                {basis.Caller{}, "s", nil},
		"a process as a group":  {basis.Caller{Group: 1}, "s", nil},
		"a group as a process ": {basis.Caller{Process: 7}, "s", nil},
	} {
		if got := r.Get(test.who, test.file); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	r.Forget("s")
	if got := r.Get(basis.Caller{Process: 1, Group: 7}, "s"); got != nil {
		t.Errorf("the name belongs to another session, but %v was read", got)
	}
}

// TestReadsAreBounded: what was used last stays however many others read, and what nobody used for long goes.
func TestReadsAreBounded(t *testing.T) {
	var r basis.Reads
	used, unused := &basis.Version{}, &basis.Version{}
	r.Put(basis.Caller{Process: 1}, "used", used)
	r.Put(basis.Caller{Process: 1}, "unused", unused)
	for i := range 40_000 {
		r.Put(basis.Caller{Process: 2}, strconv.Itoa(i), &basis.Version{})
		if i%1000 == 0 && r.Get(basis.Caller{Process: 1}, "used") != used {
			t.Fatalf("what was used last is gone after %d", i)
		}
	}
	if r.Get(basis.Caller{Process: 1}, "unused") != nil {
		t.Error("all is remembered")
	}
}
