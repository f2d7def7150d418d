// Package trust decides whether a session may run. A session runs nothing that the user has not
// trusted: its setup script, its calls and named code blocks, and the resources that they need,
// whether the document names them, .domarkx.toml or the workspace. All of that is one [Digest],
// and the digests that the user trusts are in the local state of the clone.
package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// The states of trust in a session.
const (
	Trusted   = "trusted"
	Untrusted = "untrusted"
)

// An UntrustedError means that something would run that the user has not trusted.
type UntrustedError struct {
	Session  string
	Resource string    // that lists other tools than those that were trusted; "" when the session itself is not trusted
	Brought  []Program // of nested repositories that a version would bring to the user's files; none when the session itself is not trusted
	Hazards  []Program // files of a version of an untrusted session that are dangerous just by being on the disk
	Listing  []Runs    // what would run
}

// Error returns a message that says what to do.
func (e *UntrustedError) Error() string {
	if len(e.Brought) > 0 {
		more := ""
		if n := len(e.Brought) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return fmt.Sprintf("nothing of %q is run: that would load a version of its workspace with a nested repository by which Git would run programs in your files: %q (%s)%s. Look at it in a mount; run --yes or exec --yes loads it", e.Session, e.Brought[0].Path, e.Brought[0].Why, more)
	}
	if e.Resource != "" {
		return fmt.Sprintf("resource %q of %q lists other tools than those that you trusted, so none is called: they are not trusted. Look at them with git domarkx trust %s, which also trusts them; --yes calls them this once", e.Resource, e.Session, refname.Argument(e.Session))
	}
	return fmt.Sprintf("nothing of %q is run: it is not trusted. Look at what would run with git domarkx trust %s, which also trusts it; --yes runs it this once", e.Session, refname.Argument(e.Session))
}

// IsTrusted reports whether the user trusts everything that a snapshot can run. A snapshot that runs nothing is trusted.
func (m *Manager) IsTrusted(ctx context.Context, info domarkx.Info) (bool, error) {
	d, err := m.Digest(ctx, info)
	if err != nil {
		return false, err
	}
	return m.Trusts(ctx, d)
}

// Trusts reports whether the user trusts a digest. The empty digest is trusted.
func (m *Manager) Trusts(ctx context.Context, d Digest) (bool, error) {
	if d.Empty() {
		return true, nil
	}
	values, err := m.env.Local.All(ctx, local.TrustKey)
	return hasDigest(values, d), err
}

// hasDigest reports whether the values of trustKey contain a digest.
func hasDigest(values []string, d Digest) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		digest, _, _ := strings.Cut(value, " ")
		return digest == d.String()
	})
}

func recordValue(d Digest, session string) string { return d.String() + " " + session }

// Trust records that the user trusts everything that a snapshot can run. The caller must have
// shown the listing to the user. It returns an error if .domarkx.toml is invalid.
func (m *Manager) Trust(ctx context.Context, info domarkx.Info) error {
	if err := m.checkAdded(ctx, info); err != nil {
		return err
	}
	d, _, err := m.Digests(ctx, info)
	if err != nil {
		return err
	}
	seen, err := m.seenTools(ctx, info)
	if err != nil {
		return err
	}
	for _, t := range seen {
		if err := m.trustTools(ctx, info.Name, t); err != nil {
			return err
		}
	}
	return m.record(ctx, d, info.Name)
}

// record records trust in a session's current content, as far as the user trusts its earlier contents in was (see [grown]).
func (m *Manager) record(ctx context.Context, now Digests, session string, was ...Digests) error {
	return m.env.Local.Change(ctx, local.TrustKey, func(values []string) []string {
		d := grown(values, now, was)
		if value := recordValue(d, session); !d.Empty() && !slices.Contains(values, value) { // keep the entries of other sessions, which are removed separately
			values = append(values, value)
		}
		return values
	})
}

// grown returns the digest in which trust grows from earlier contents to the present one: all that runs if all that ran
// before is trusted, and all but the pending calls if that much was. Otherwise it returns the empty digest.
func grown(values []string, now Digests, was []Digests) Digest {
	held := func(d Digest) bool { return d.Empty() || hasDigest(values, d) }
	whole, settled := true, true
	for _, d := range was {
		whole = whole && held(d.Whole)
		settled = settled && (held(d.Whole) || held(d.Settled))
	}
	switch {
	case whole:
		return now.Whole
	case settled:
		return now.Settled
	}
	return Digest{}
}

// Revoke removes the trust in a session's current content and in its earlier trusted contents.
// When it returns, the removal is durable, and changes in progress in other processes cannot
// extend the trust. It returns the resulting state: a session that runs nothing stays trusted.
func (m *Manager) Revoke(ctx context.Context, name string) (string, error) {
	info, err := m.store.Tip(ctx, name)
	if err != nil {
		return "", err
	}
	d, unknown := m.Digest(ctx, info) // on error, still remove the entries of the session
	err = m.env.Local.Change(ctx, local.TrustKey, func(values []string) []string {
		return slices.DeleteFunc(values, func(value string) bool {
			digest, session, _ := strings.Cut(value, " ")
			return session == name || unknown == nil && digest == d.String()
		})
	})
	tools := m.env.Local.Change(ctx, local.ToolsKey, func(values []string) []string {
		return slices.DeleteFunc(values, func(value string) bool {
			fields := strings.SplitN(value, " ", 3)
			return len(fields) == 3 && fields[2] == name
		})
	})
	if err := errors.Join(err, tools, unknown); err != nil {
		return "", err
	}
	if d.Empty() {
		return Trusted, nil
	}
	return Untrusted, nil
}

// Grow records trust in a session's content after a change by the user, as far as all of its
// earlier contents in was are trusted: wholly, or but for their pending calls. Those remain trusted, for
// rewinds and for other sessions with the same content.
func (m *Manager) Grow(ctx context.Context, now Digests, session string, was ...Digests) error {
	known := func(values []string) (d Digest, ok bool) {
		d = grown(values, now, was)
		return d, d.Empty() || hasDigest(values, d)
	}
	values, err := m.env.Local.All(ctx, local.TrustKey)
	if err != nil {
		return err
	}
	if _, ok := known(values); ok {
		return nil // nothing to write
	}
	return m.env.Local.Change(ctx, local.TrustKey, func(values []string) []string {
		d, ok := known(values)
		if ok {
			return values
		}
		return newest(append(values, recordValue(d, session)), func(value string) bool {
			_, name, _ := strings.Cut(value, " ")
			return name == session
		})
	})
}

// keptDigests is the number of states of a session, or of the lists of tools of a config, for which trust is kept.
const keptDigests = 20

// newest removes the oldest values of a kind until at most keptDigests remain.
func newest(values []string, of func(value string) bool) []string {
	extra := -keptDigests
	for _, value := range values {
		if of(value) {
			extra++
		}
	}
	return slices.DeleteFunc(values, func(value string) bool {
		if extra <= 0 || !of(value) {
			return false
		}
		extra--
		return true
	})
}

// Keep returns the Extension of the trust in the snapshot before to a state that runs only the beginning of it, after a
// rewind or in a fork. The trust in the snapshot remains, so that the rewind can be undone.
func (m *Manager) Keep(ctx context.Context, name string, state *domarkx.State, before domarkx.Info) (Extension, error) {
	was, _, err := m.Digests(ctx, before)
	if err != nil {
		return Unchanged, err
	}
	values, err := m.env.Local.All(ctx, local.TrustKey)
	if err != nil || grown(values, was, []Digests{was}).Empty() {
		return Unchanged, err
	}
	_, now, err := m.stateDigests(ctx, name, state, nil)
	if err != nil {
		return Unchanged, err
	}
	all, _, err := m.digests(ctx, before)
	if err != nil {
		return Unchanged, err
	}
	begins := func() bool {
		return slices.ContainsFunc(all, func(d Digests) bool { return d.Whole == now.Whole })
	}
	if !begins() {
		if all, err = m.digestsAlone(ctx, name, before); err != nil || !begins() {
			return Unchanged, err
		}
	}
	return func(ctx context.Context, m *Manager, _, _ domarkx.Info) error {
		return m.record(ctx, now.Digests, name, was)
	}, nil
}

// digestsAlone returns the digests that a snapshot would have under another session name, if
// nothing is added to that session, and none otherwise. A user who trusts a session that works in
// another session's workspace also trusts its own document.
func (m *Manager) digestsAlone(ctx context.Context, name string, info domarkx.Info) ([]Digests, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return nil, err
	}
	if added, err := m.AddedTo(ctx, name, h); err != nil || added != nil {
		return nil, err
	}
	info.Name = name
	all, _, err := m.digests(ctx, info)
	return all, err
}

// Manager determines what sessions run and whether the user trusts it. Its methods are safe for concurrent use.
type Manager struct {
	store *gitstore.Store
	env   local.Environment
}

// New returns a manager for the sessions in a store.
func New(store *gitstore.Store, env local.Environment) *Manager { return &Manager{store, env} }
