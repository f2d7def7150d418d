package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// trustKey is the setting that holds what the user trusts: the digest of all that
// runs, and after a space the session for which that was said. The session only
// bounds how much is kept; trust is in content, whatever its name.
const trustKey = "domarkx.trust"

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
	values, err := m.around.Settings.All(ctx, trustKey)
	return slices.ContainsFunc(values, func(value string) bool { return trustedDigest(value) == d.String() }), err
}

// trustedDigest returns the digest of a value of the setting.
func trustedDigest(value string) string {
	digest, _, _ := strings.Cut(value, " ")
	return digest
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

func (m *SessionManager) recordTrust(ctx context.Context, d trustDigest, session string) error {
	if d.empty() {
		return nil
	}
	value := trustValue(d, session)
	values, err := m.around.Settings.All(ctx, trustKey)
	if err != nil || slices.Contains(values, value) { // one of another session goes when that changes
		return err
	}
	return m.around.Settings.Add(ctx, trustKey, value)
}

// Revoke takes back the trust in what a session can run, and in what it could run
// when it was trusted. It returns what holds now: a session of which nothing can run
// stays trusted.
func (m *SessionManager) Revoke(ctx context.Context, name string) (string, error) {
	info, err := m.store.Tip(ctx, name)
	if err != nil {
		return "", err
	}
	info.Name = name
	d, err := m.digest(ctx, info)
	if err != nil {
		return "", err
	}
	values, err := m.around.Settings.All(ctx, trustKey)
	if err != nil {
		return "", err
	}
	for _, value := range values {
		digest, session, _ := strings.Cut(value, " ")
		if digest != d.String() && session != name {
			continue
		}
		if err := m.around.Settings.Remove(ctx, trustKey, value); err != nil {
			return "", err
		}
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
	for _, info := range before {
		if held, err := m.IsTrusted(ctx, info); err != nil || !held {
			return err
		}
	}
	now, err := m.digest(ctx, after)
	if err != nil {
		return err
	}
	return m.growTrust(ctx, now, after.Name)
}

// growTrust records trust in what a session runs after a change of the user. What it
// ran before stays trusted, for a rewind and for others of the same content.
func (m *SessionManager) growTrust(ctx context.Context, now trustDigest, session string) error {
	if held, err := m.trusts(ctx, now); err != nil || held {
		return err
	}
	if err := m.around.Settings.Add(ctx, trustKey, trustValue(now, session)); err != nil {
		return err
	}
	return m.forgetOldTrust(ctx, session)
}

// keptTrust is for how many of the texts that a session had it stays trusted.
const keptTrust = 20

// forgetOldTrust bounds what is kept for a session, the newest last.
func (m *SessionManager) forgetOldTrust(ctx context.Context, session string) error {
	values, err := m.around.Settings.All(ctx, trustKey)
	if err != nil {
		return err
	}
	values = slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		_, name, _ := strings.Cut(value, " ")
		return name != session
	})
	for _, value := range values[:max(0, len(values)-keptTrust)] {
		if err := m.around.Settings.Remove(ctx, trustKey, value); err != nil {
			return err
		}
	}
	return nil
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
	return m.recordTrust(ctx, now, name)
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
