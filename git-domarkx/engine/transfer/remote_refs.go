package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/remote"
	"github.com/domarkx/domarkx/plugins/limit"
)

// client returns a client that exchanges this repository's references with remotes.
func (m *Manager) client(ctx context.Context, progress io.Writer) *remote.Client {
	return &remote.Client{Git: m.store.Git(), Refs: refdb.Open(ctx, m.store.Git()), Kinds: []string{"sessions", "workspaces"}, Accept: checkRefName, Progress: progress, There: m.there, Replaced: m.store.Replacements}
}

// there returns the commit that a remote has for a tracking reference. This differs from id if a
// redaction here moved the tracking reference to id.
func (m *Manager) there(tracking, id string) string {
	leases, err := m.store.Leases()
	if err != nil {
		return id // the push then fails, because the remote has another commit
	}
	return leases.Remote(tracking, id)
}

func checkRefName(ref string) error {
	kind, name := refname.Of(ref)
	return kind.Check(name)
}

// fetch downloads sessions and their workspaces, or everything if names is empty, and verifies all that arrives. A fetched session
// also brings the workspaces whose newest version one of its messages links. fetch warns about references that this program does
// not accept. progress receives Git's output; nil for none.
func (m *Manager) fetch(ctx context.Context, name string, names []string, progress io.Writer) (result fetchResult, err error) {
	from, err := remote.Find(ctx, m.store.Git(), name)
	if err != nil {
		return result, err
	}
	assigned, err := m.sessions.Attached(ctx)
	if err != nil {
		return result, err
	}
	var only []string
	for _, session := range names {
		only = append(only, refname.Sessions.Ref(session), refname.Workspaces.Ref(session))
		if workspace := assigned[session]; workspace != "" {
			only = append(only, refname.Workspaces.Ref(workspace))
		}
	}
	client := m.client(ctx, progress)
	client.Verify = func(ctx context.Context, refs []refdb.Ref) (map[string]error, error) {
		return m.store.Verify(ctx, refs, engine.DocumentChecks{Store: m.store})
	}
	client.Receive = func(ctx context.Context, ref refdb.Ref) (bool, []remote.Move, error) {
		if !m.store.HasReplacements() {
			return false, nil, nil
		}
		tracking := from.Tracking(ref.Name)
		received, err := m.redacted.Receive(ctx, Incoming{Ref: tracking, ID: ref.ID})
		if err == nil && !received.Moved { // the tracking reference will have what the remote has
			err = m.store.EndLeases([]string{tracking})
		}
		return received.Moved, received.Others, err
	}
	client.Along = func(ref refdb.Ref) bool {
		kind, _ := refname.Of(ref.Name)
		return kind == refname.Workspaces && m.store.HasVersion(ref.ID)
	}
	if result.Before, err = m.seen(client, from); err != nil {
		return result, err
	}
	fetched, err := client.Fetch(ctx, from, only...)
	if err != nil {
		return result, explained(err)
	}
	for _, ignored := range fetched.Ignored {
		m.sessions.Warn(ignored)
	}
	result.After, result.Rejected = tipsIn(fetched.Refs), fetched.Rejected
	return result, nil
}

// Tracked returns the remote's tips as last seen.
func (m *Manager) Tracked(ctx context.Context, name string) (Tips, error) {
	in, err := remote.Find(ctx, m.store.Git(), name)
	if err != nil {
		return Tips{}, err
	}
	return m.seen(m.client(ctx, nil), in)
}

func (m *Manager) seen(client *remote.Client, in remote.Remote) (Tips, error) {
	refs, _, err := client.Seen(in) // Fetch has already reported the ignored references
	return tipsIn(refs), err
}

func tipsIn(refs []refdb.Ref) Tips {
	tips := newTips()
	for _, ref := range refs {
		tips.set(ref.Name, ref.ID)
	}
	return tips
}

// pushRefs updates tips on a remote: all or none if they need less than domarkx.limit.push. It returns a status for each.
func (m *Manager) pushRefs(ctx context.Context, name string, out outgoing, progress io.Writer) (Tips, error) {
	tips := out.tips
	to, err := remote.Find(ctx, m.store.Git(), name)
	if err != nil {
		return Tips{}, err
	}
	client := m.client(ctx, progress)
	config, err := m.store.Git().Config(ctx)
	if err != nil {
		return Tips{}, err
	}
	if client.Portion, err = limit.Push.Of(config); err != nil {
		return Tips{}, err
	}
	seen, err := m.seen(client, to)
	if err != nil {
		return Tips{}, err
	}
	var changes []refdb.Change // workspaces first: a session on the remote has its workspace there
	for _, workspace := range slices.Sorted(maps.Keys(tips.Workspaces)) {
		changes = append(changes, refdb.Change{Ref: refname.Workspaces.Ref(workspace), Old: seen.Workspaces[workspace], New: tips.Workspaces[workspace]})
	}
	for _, session := range slices.Sorted(maps.Keys(tips.Sessions)) {
		changes = append(changes, refdb.Change{Ref: refname.Sessions.Ref(session), Old: seen.Sessions[session], New: tips.Sessions[session]})
	}
	results, err := client.Push(ctx, to, changes...)
	err = explained(err)
	statuses := newTips()
	var sent []string
	for _, r := range results {
		statuses.set(r.Ref, pushStatus(r))
		if r.Status.OK() {
			sent = append(sent, to.Tracking(r.Ref))
		}
	}
	return statuses, errors.Join(err, m.store.EndLeases(sent))
}

// pushStatus describes the result of pushing a session, with advice. The engine treats a
// status that starts with "rejected" as a failure.
func pushStatus(r remote.Result) string {
	switch r.Status {
	case remote.Created:
		return "new"
	case remote.Updated:
		return "updated"
	case remote.Deleted:
		return "removed there"
	case remote.UpToDate:
		return UpToDate
	case remote.Stale:
		return "rejected: the remote has changes that are not here; run git domarkx pull, then push again"
	case remote.Lost:
		return "rejected: the remote could not take it (" + r.Reason + "), perhaps as somebody else pushed at the same moment; run git domarkx pull, then push again"
	case remote.NotTried:
		return NotSent
	case remote.Unknown:
		return "rejected: the connection ended before the remote answered; run git domarkx fetch to see what it has"
	}
	return "rejected by the remote: " + r.Reason + advice(r.Reason)
}

// hostRules are what hosts and git say when a push or fetch, or one of its references, is refused, in lower case, and what one
// can do. The first that fits counts.
var hostRules = []struct{ says, advice string }{
	{"hidden ref", "the host takes no references outside refs/heads and refs/tags: push to another remote"},
	{"prohibited", "the host takes no references outside refs/heads and refs/tags: push to another remote"},
	{"quota", noSpace},
	{"exceeded its size limit", noSpace},  // GitLab
	{"over its size limit", noSpace},      // Bitbucket
	{"file size limit", tooLarge},         // GitHub
	{"blobs which exceed", tooLarge},      // GitLab
	{"larger than the allowed", tooLarge}, // GitLab
	{"pack exceeds", "the host limits how much one push sends: push in smaller portions (git config domarkx.limit.push 100m)"},
	{"protected", "the host protects this reference: ask its owner to allow pushes to refs/domarkx, or push to another remote"},
	{"rule violations", "the host protects this reference: ask its owner to allow pushes to refs/domarkx, or push to another remote"}, // GitHub
	{"publickey", "the host accepts none of your SSH keys: add one there, or load it (ssh-add)"},
	{"host key verification", "ssh does not know the host: connect once with ssh, and compare its key"},
	{"could not read username", noPassword},
	{"could not read password", noPassword},
	{"authentication failed", noPassword},
	{"returned error: 401", noPassword},
	{"returned error: 403", noRight},
	{"archived", noRight},
	{"read-only", noRight},
	{"permission", noRight},
	{"not allowed", noRight},
	{"denied", noRight},
	{"unpack", "the host did not take the objects, perhaps because of a limit of size: ask its owner, or push to another remote"},
	{"declined", "a rule of the host refused it: ask its owner, or push to another remote"},
}

const (
	noSpace    = "the host has no space left for this repository: ask its owner for more, or push to another remote"
	tooLarge   = "the host limits the size of files: ask its owner for a higher limit, or push to another remote"
	noPassword = "git has no user name and password that the host accepts: set up a credential helper (git help credentials)"
	noRight    = "this account may not write there: ask the owner of the repository for the right to push, or push to another remote"
)

// advice returns what to do about a refusal, with a semicolon before it, or "".
func advice(reason string) string {
	reason = strings.ToLower(reason)
	for _, rule := range hostRules {
		if strings.Contains(reason, rule.says) {
			return "; " + rule.advice
		}
	}
	return ""
}

// explained adds what to do to an error of git with a remote, if that is known.
func explained(err error) error {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) {
		return err
	}
	advice := advice(failed.Stderr)
	if strings.Contains(err.Error(), "\n") { // git says several lines
		advice = strings.Replace(advice, "; ", "\n", 1)
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w%s", err, advice)
}
