// Package permit holds the value without which no resource of a workspace is opened, loaded or called. A [Permit] says what may be
// executed, for which session, by which right, and under which confinement. Only package trust issues permits, in one function;
// integration/permit_test.go fails where another one does. The zero Permit permits nothing.
package permit

import (
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Right is why something may be executed. A later one is weaker: a permit that needs several has the last one.
type Right int

// The rights.
const (
	None     Right = iota // nothing may be executed
	Trusted               // the user trusts the content
	Approved              // the user said yes when asked, for this process
	Option                // an option of the command says so, such as --yes
	Live                  // an earlier permit made it live on this machine: it may be opened and committed, but nothing else
)

// A Confinement limits opened resources, besides the configuration of the user.
type Confinement int

// The confinements.
const (
	Shared      Confinement = iota // a new instance works at the paths and with the services that its resources name
	Private                        // a new instance has files of its own
	Temporary                      // private, for this process alone, in addition to the one with that name
	Directories                    // only directories are opened: no program is started, and no server contacted
)

// Content is the part of a session's content that the user agrees to.
type Content int

// The parts.
const (
	Nothing Content = iota
	Settled         // all but the calls without a result
	Whole
)

// What is something that may be executed.
type What struct {
	Content   Content                // of the session
	Workspace string                 // name
	Resources []domarkx.ResourceSpec // that may be opened, with these configs
	Version   string                 // id of the version to load into them
	Resource  string                 // id of the one that is called
	Call      *domarkx.Call          // nil for none
	Code      *Code                  // nil for none
	Program   string                 // outside of workspaces
}

// Code is a block of code to run.
type Code struct{ Language, Text string }

// A Permit is the permission to execute something.
type Permit struct {
	session  string
	what     What
	right    Right
	confined Confinement
}

// Issue returns a permit. It is for package trust alone.
func Issue(session string, what What, by Right, in Confinement) Permit {
	return Permit{session, what, by, in}
}

// Session returns the name of the session for which something is executed.
func (p Permit) Session() string { return p.session }

// What returns what may be executed. The caller does not change its resources.
func (p Permit) What() What { return p.what }

// Right returns the right; [None] for the zero Permit.
func (p Permit) Right() Right { return p.right }

// Confinement returns the confinement.
func (p Permit) Confinement() Confinement { return p.confined }

// Without returns a permit without the resources for which drop returns true.
func (p Permit) Without(drop func(domarkx.ResourceSpec) bool) Permit {
	p.what.Resources = slices.DeleteFunc(slices.Clone(p.what.Resources), drop)
	return p
}
