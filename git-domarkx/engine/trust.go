package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// The states of a session's trust.
const (
	Trusted   = "trusted"
	Untrusted = "untrusted"
)

// An UntrustedError says that something would run that the user has not trusted.
type UntrustedError struct {
	Session string
	Listing []Runs // what would run
}

// Error says what to do.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("nothing of %q is run: it is not trusted. Look at what would run with git domarkx trust %s, which also trusts it; --yes runs it this once", e.Session, e.Session)
}

// IsTrusted reports whether the user trusts all that a session's snapshot can run.
// Where nothing can run there is nothing to trust.
func (m *SessionManager) IsTrusted(ctx context.Context, info domarkx.Info) (bool, error) {
	d, err := m.digest(ctx, info)
	if err != nil {
		return false, err
	}
	return m.trusts(ctx, d)
}

func (m *SessionManager) trusts(ctx context.Context, d trustDigest) (bool, error) {
	if d.empty() {
		return true, nil
	}
	values, err := m.around.Local.All(ctx, trustKey)
	return hasTrust(values, d), err
}

// hasTrust reports whether a digest is among the values of trustKey.
func hasTrust(values []string, d trustDigest) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		digest, _, _ := strings.Cut(value, " ")
		return digest == d.String()
	})
}

func trustValue(d trustDigest, session string) string { return d.String() + " " + session }

// Trust records that the user trusts all that a snapshot of a session can run, of
// which the user was shown the listing. Nothing is trusted while .domarkx.toml is wrong.
func (m *SessionManager) Trust(ctx context.Context, info domarkx.Info) error {
	if err := m.checkAdded(ctx, info); err != nil {
		return err
	}
	d, err := m.digest(ctx, info)
	if err != nil {
		return err
	}
	return m.recordTrust(ctx, d, info.Name)
}

// recordTrust records trust in what a session runs, unless some of was, which it follows
// from, is not trusted any more.
func (m *SessionManager) recordTrust(ctx context.Context, d trustDigest, session string, was ...trustDigest) error {
	if d.empty() {
		return nil
	}
	value := trustValue(d, session)
	return m.around.Local.Change(ctx, trustKey, func(values []string) []string {
		if slices.Contains(values, value) || !allTrusted(values, was) { // one of another session goes when that changes
			return values
		}
		return append(values, value)
	})
}

// allTrusted reports whether all of some digests are trusted.
func allTrusted(values []string, all []trustDigest) bool {
	return !slices.ContainsFunc(all, func(d trustDigest) bool { return !d.empty() && !hasTrust(values, d) })
}

// Revoke takes back the trust in what a session can run, and in what it could run
// when it was trusted. When it returns, that is durable, and no change that another process
// is making extends the trust any more. It returns what holds now: a session of which
// nothing can run stays trusted.
func (m *SessionManager) Revoke(ctx context.Context, name string) (string, error) {
	info, err := m.store.Tip(ctx, name)
	if err != nil {
		return "", m.unknown(ctx, name, err)
	}
	info.Name = name
	d, unknown := m.digest(ctx, info) // what is recorded for the session goes all the same
	err = m.around.Local.Change(ctx, trustKey, func(values []string) []string {
		return slices.DeleteFunc(values, func(value string) bool {
			digest, session, _ := strings.Cut(value, " ")
			return session == name || unknown == nil && digest == d.String()
		})
	})
	if err := errors.Join(err, unknown); err != nil {
		return "", err
	}
	if d.empty() {
		return Trusted, nil
	}
	return Untrusted, nil
}

// extendTrust extends the trust in a session over a change that the user made, when
// all the snapshots that it was made from were trusted. The change is made by then:
// a kill in between leaves a session that is not trusted.
func (m *SessionManager) extendTrust(ctx context.Context, after domarkx.Info, before ...domarkx.Info) error {
	was, err := m.digestEach(ctx, before)
	if err != nil {
		return err
	}
	now, err := m.digest(ctx, after)
	if err != nil {
		return err
	}
	return m.growTrust(ctx, now, after.Name, was...)
}

// digestEach returns the digests of snapshots.
func (m *SessionManager) digestEach(ctx context.Context, all []domarkx.Info) ([]trustDigest, error) {
	digests := make([]trustDigest, len(all))
	for i, info := range all {
		var err error
		if digests[i], err = m.digest(ctx, info); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// growTrust records trust in what a session runs after a change of the user, when all of
// was, which it ran before, is trusted then. That stays trusted, for a rewind and for others
// of the same content.
func (m *SessionManager) growTrust(ctx context.Context, now trustDigest, session string, was ...trustDigest) error {
	if now.empty() {
		return nil
	}
	values, err := m.around.Local.All(ctx, trustKey)
	if err != nil || hasTrust(values, now) || !allTrusted(values, was) {
		return err // nothing to write
	}
	return m.around.Local.Change(ctx, trustKey, func(values []string) []string {
		if hasTrust(values, now) || !allTrusted(values, was) {
			return values
		}
		return forgetOldTrust(append(values, trustValue(now, session)), session)
	})
}

// keptTrust is for how many of the texts that a session had it stays trusted.
const keptTrust = 20

// forgetOldTrust bounds what is kept for a session, the newest last.
func forgetOldTrust(values []string, session string) []string {
	of := func(value string) bool {
		_, name, _ := strings.Cut(value, " ")
		return name == session
	}
	extra := -keptTrust
	for _, value := range values {
		if of(value) {
			extra++
		}
	}
	return slices.DeleteFunc(values, func(value string) bool {
		if !of(value) || extra <= 0 {
			return false
		}
		extra--
		return true
	})
}

// keepTrust lets a session be trusted that is to have this state, which has nothing to
// run but the beginning of what a trusted snapshot runs: after a rewind, or as a fork.
// Trust in the snapshot stays, so that the rewind can be undone. The session moves
// afterwards: no kill in between leaves one that is not trusted.
func (m *SessionManager) keepTrust(ctx context.Context, name string, state *domarkx.State, before domarkx.Info) error {
	held, err := m.IsTrusted(ctx, before)
	if err != nil || !held {
		return err
	}
	now, err := m.digestState(ctx, name, state, func(_ int, e domarkx.Entry) (domarkx.Message, error) { return loadMessage(ctx, m.store, e) })
	if err != nil || now.empty() {
		return err
	}
	all, err := m.digests(ctx, before)
	if err == nil && !slices.Contains(all, now) {
		all, err = m.digestsAlone(ctx, name, before)
	}
	if err != nil || !slices.Contains(all, now) {
		return err
	}
	was, err := m.digest(ctx, before)
	if err != nil {
		return err
	}
	return m.recordTrust(ctx, now, name, was)
}

// digestsAlone returns the digests of a snapshot as a session of another name has
// them that nothing is added to: none where something is. Who trusts a session in a
// workspace of another one trusts what its own document says as well.
func (m *SessionManager) digestsAlone(ctx context.Context, name string, info domarkx.Info) ([]trustDigest, error) {
	h, err := m.header(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	if added, err := m.addedTo(ctx, name, h); err != nil || added != nil {
		return nil, err
	}
	info.Name = name
	return m.digests(ctx, info)
}
