package trust

import (
	"cmp"
	"context"
	"errors"

	"github.com/domarkx/domarkx/plugins/permit"
)

// A Gate decides what may be executed for one command. It remembers what the user approved meanwhile.
// It is not safe for concurrent use.
type Gate struct {
	m        *Manager
	consent  Consent
	approved map[Digest]permit.Right
	last     checkedContent
}

// checkedContent is the content of a session that a gate let pass last.
type checkedContent struct {
	session, snapshot string
	settled           bool
	right             permit.Right
	besides           Digest // of what runs besides the document
}

// Gate returns a gate for a command with the user's consent.
func (m *Manager) Gate(c Consent) *Gate {
	return &Gate{m: m, consent: c, approved: map[Digest]permit.Right{}}
}

// Consent is how the user agrees to untrusted content. The zero Consent is to nothing.
type Consent struct {
	Yes bool // an option agrees to everything
	// Ask asks the user; nil if nobody can be asked.
	Ask func(ctx context.Context, e *UntrustedError) (bool, error)
	// Calls are the calls of a model that the user agrees to.
	Calls Calls
}

// answer returns the right by which something untrusted may be executed, or untrusted.
func (c Consent) answer(ctx context.Context, untrusted *UntrustedError) (permit.Right, error) {
	if c.Yes {
		return permit.Option, nil
	}
	if c.Ask == nil {
		return permit.None, untrusted
	}
	yes, err := c.Ask(ctx, untrusted)
	if err == nil && !yes {
		err = untrusted
	}
	if err != nil {
		return permit.None, err
	}
	return permit.Approved, nil
}

// Calls say which calls of a model are made.
type Calls struct {
	All      bool     // an option says all of them
	ReadOnly bool     // those of built-in tools that only read, and those in Listed
	Listed   []string // RESOURCE__TOOL of tools that a resource lists itself
	// Ask asks the user about any other; nil if nobody can be asked.
	Ask func(ctx context.Context, resource, tool string) (Decision, error)
}

// A Decision is the user's answer to the question whether a call may be made.
type Decision int

// The decisions about a call.
const (
	Stop  Decision = iota // nobody can be asked
	Allow                 // make the call
	Deny                  // do not make it
)

// The errors of [Gate.Permit] for a call of a model.
var (
	ErrNotAsked = errors.New("the call needs your approval")
	ErrDeclined = errors.New("the user declined the call")
)

// An Act is something that may be executed: [Session], [Open], [Load], [Tools], [Call], [ModelCall], [Present],
// [Write] or [Resume].
type Act interface {
	// permitted returns what the permit is for, if d finds a right to everything that the act needs.
	permitted(ctx context.Context, d *decision) (permission, error)
}

// A permission is the act that a permit allows.
type permission struct {
	session string
	what    permit.What
	in      permit.Confinement
}

// Permit decides whether something may be executed. Nothing else issues permits, and nothing is executed without one. If the
// user neither trusts nor approves what the act needs, the error is an [*UntrustedError], [ErrNotAsked] or [ErrDeclined].
func (g *Gate) Permit(ctx context.Context, a Act) (permit.Permit, error) {
	d := &decision{g, permit.Trusted}
	p, err := a.permitted(ctx, d)
	if err != nil {
		return permit.Permit{}, err
	}
	return permit.Issue(p.session, p.what, d.right, p.in), nil
}

// A decision collects the rights that an act needs.
type decision struct {
	*Gate
	right permit.Right // the weakest so far
}

// need requires that the user trusts what has a digest, or approves it. An approval holds for this gate.
func (d *decision) need(ctx context.Context, digest Digest, trusted bool, untrusted func() (*UntrustedError, error)) error {
	by := d.approved[digest]
	if trusted {
		by = permit.Trusted
	}
	if by == permit.None {
		e, err := untrusted()
		if err == nil {
			by, err = d.consent.answer(ctx, e)
		}
		if err != nil {
			return err
		}
		d.approved[digest] = by
	}
	d.right = max(d.right, by)
	return nil
}

// Follow extends an approval to a session's next content, in which this program recorded a result.
func (g *Gate) Follow(was, now Digests) {
	g.approved[now.Whole] = cmp.Or(g.approved[now.Whole], g.approved[was.Whole])
	g.approved[now.Settled] = cmp.Or(g.approved[now.Settled], g.approved[was.Settled])
}
