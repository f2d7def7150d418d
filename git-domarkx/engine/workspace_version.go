package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// ResolveVersion returns the version that a revision of a workspace names: WS, WS~2 or WS@OID. For NAME#K it returns the
// version of [SessionManager.VersionAt]. The error matches [domarkx.ErrNotFound] if the version does not exist.
func (m *SessionManager) ResolveVersion(ctx context.Context, r Revision) (domarkx.Version, error) {
	v, err := m.resolveVersion(ctx, r)
	if err == nil {
		err = v.Files()
	}
	return v, err
}

// resolveVersion is like ResolveVersion, but also returns versions whose files expired.
func (m *SessionManager) resolveVersion(ctx context.Context, r Revision) (domarkx.Version, error) {
	if r.Message >= 0 {
		return m.VersionAt(ctx, r)
	}
	v, err := m.store.WorkspaceTip(ctx, r.Name)
	if err != nil {
		return v, m.ElsewhereError(ctx, r.Name, err)
	}
	if r.ID != "" {
		if v, err = m.store.FindVersion(ctx, v.ID, r.ID); err != nil && v.Expired == nil {
			return v, err
		}
	}
	for n := range r.Back {
		if len(v.Parents) == 0 {
			return v, fmt.Errorf("version %s~%d: %w: only %d come before it, see git domarkx workspace log %s", r.Name, r.Back, domarkx.ErrNotFound, n, refname.Argument(r.Name))
		}
		if v, err = m.store.VersionOrStub(ctx, v.Parents[0]); err != nil {
			return v, err
		}
	}
	v.Workspace = r.Name
	return v, nil
}

// ElsewhereError improves an error about a missing workspace if a session of that name uses another
// workspace or has not created its own yet.
func (m *SessionManager) ElsewhereError(ctx context.Context, name string, err error) error {
	if !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	if other, e := m.WorkspaceOf(ctx, name); e == nil && other != name {
		return fmt.Errorf("%w; the session %q uses the workspace %q", err, name, other)
	}
	if _, e := m.store.Tip(ctx, name); e == nil {
		return fmt.Errorf("%w; a session's first call creates its workspace: git domarkx run %s", err, refname.Argument(name))
	}
	return err
}

// VersionLog returns the version that a revision names and its ancestors, newest first, without
// resources. The error is that of [SessionManager.ResolveVersion].
func (m *SessionManager) VersionLog(ctx context.Context, r Revision) iter.Seq2[domarkx.Version, error] {
	return func(yield func(domarkx.Version, error) bool) {
		top, err := m.resolveVersion(ctx, r)
		if err != nil {
			yield(domarkx.Version{}, err)
			return
		}
		for v, err := range m.store.Versions(ctx, top.ID) {
			if !yield(v, err) {
				return
			}
		}
	}
}

// VersionAt returns the workspace version after message K of a session: the version that the
// message links, or the last one linked before it. Without K, it starts with the last message. The
// error matches [domarkx.ErrNotFound] if no such message has a link.
func (m *SessionManager) VersionAt(ctx context.Context, r Revision) (domarkx.Version, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return domarkx.Version{}, err
	}
	last := r.Message
	if last < 0 {
		last = info.Messages - 1
	}
	link, err := m.LinkAt(ctx, info.ID, last)
	if err != nil {
		return domarkx.Version{}, err
	}
	if link == "" {
		return domarkx.Version{}, fmt.Errorf("workspace version of %s: %w: neither it nor a message before it made a call; git domarkx log --messages %s shows which did", r, domarkx.ErrNotFound, refname.Argument(r.Name))
	}
	return m.store.Version(ctx, link)
}

// ExpiredLinks returns the versions that message K of a session, or without K any of its messages, links and whose files expired,
// by the number of the message that links each last.
func (m *SessionManager) ExpiredLinks(ctx context.Context, r Revision) (map[int]*domarkx.ExpiredError, error) {
	if !m.store.HasReplacements() {
		return nil, nil
	}
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	state, err := m.store.LoadPacked(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	found, last := map[int]*domarkx.ExpiredError{}, map[string]int{}
	for k := range state.Live.Len() {
		if link := state.Live.At(k).Link; link != "" && (r.Message < 0 || r.Message == k) {
			last[link] = k
		}
	}
	for link, k := range last {
		if v, err := m.store.VersionCommit(link); err == nil && v.Expired != nil { // anything can be written into a link
			found[k] = &domarkx.ExpiredError{Version: v.ID, Date: v.Date, Expiry: v.Expired}
		}
	}
	return found, nil
}

// nearby is the number of messages to read first; a longer search reads all at once.
const nearby = 32

// LinkAt returns the link of message k of a snapshot, or of the nearest linked message before it.
// It returns "" if there is none.
func (m *SessionManager) LinkAt(ctx context.Context, snapshot string, k int) (string, error) {
	for end, from := k+1, max(0, k+1-nearby); end > 0; end, from = from, 0 {
		entries, err := m.store.EntriesBetween(ctx, snapshot, from, end)
		if err == nil && len(entries) < end-from {
			_, err = m.store.Entry(ctx, snapshot, k) // says that there is no such message
		}
		if err == nil {
			err = m.SoundLinks(ctx, snapshot, entries)
		}
		if err != nil {
			return "", err
		}
		for _, e := range slices.Backward(entries) {
			if e.Link != "" {
				return e.Link, nil
			}
		}
	}
	return "", nil
}

// StateAt returns the workspace version at the time when a snapshot was the newest of its
// session, or "" if that is unknown. tip is the session's newest snapshot.
func (m *SessionManager) StateAt(ctx context.Context, tip, snapshot domarkx.Info) (string, error) {
	left, err := m.leftAt(ctx, tip, snapshot)
	if err != nil || left != "" {
		return left, err
	}
	for info, err := range m.store.History(ctx, snapshot.ID) {
		if err != nil {
			return "", err
		}
		if info.Operation == "merge" { // it is unknown which parent was the local one
			return m.LinkAt(ctx, info.ID, info.Messages-1)
		}
		linked, err := m.store.LinkedVersions(ctx, info.ID)
		if err != nil {
			return "", err
		}
		if len(linked) > 0 {
			return linked[len(linked)-1], nil
		}
	}
	return m.LinkAt(ctx, snapshot.ID, snapshot.Messages-1)
}

// leftAt returns the version that the workspace had before a rewind on top of a snapshot, or "" if there was no rewind.
func (m *SessionManager) leftAt(ctx context.Context, tip, snapshot domarkx.Info) (string, error) {
	var after domarkx.Info
	for info, err := range m.store.History(ctx, tip.ID) {
		if err != nil {
			return "", err
		}
		if info.Number < snapshot.Number {
			break
		}
		if info.ID != snapshot.ID {
			after = info
			continue
		}
		if after.Operation != "rewind" {
			break
		}
		linked, err := m.store.LinkedVersions(ctx, after.ID)
		if err != nil || len(linked) == 0 {
			return "", err
		}
		return linked[0], nil
	}
	return "", nil
}

// BeforeCalls returns the workspace version before the first call of the given messages, or "" if they made no calls.
func (m *SessionManager) BeforeCalls(ctx context.Context, snapshot, tip string, messages map[domarkx.ID]bool) (string, error) {
	var calls []domarkx.Version
	for v, err := range m.store.Versions(ctx, tip) {
		if err != nil {
			return "", err
		}
		if v.Call != nil && messages[v.Call.Message] && len(v.Parents) > 0 {
			calls = append(calls, v)
		}
	}
	calls, err := m.OwnCalls(ctx, snapshot, calls)
	if err != nil || len(calls) == 0 {
		return "", err
	}
	return calls[len(calls)-1].Parents[0], nil
}

// OwnCalls returns the versions that calls of the snapshot's session created. The ids of messages are not sufficient to find
// them: two sessions that were imported from one document have the same ids and may share a workspace.
func (m *SessionManager) OwnCalls(ctx context.Context, snapshot string, calls []domarkx.Version) ([]domarkx.Version, error) {
	ids := make([]string, len(calls))
	for i, v := range calls {
		ids[i] = v.ID
	}
	own, err := m.store.Linked(ctx, snapshot, ids)
	return slices.DeleteFunc(calls, func(v domarkx.Version) bool { return !own[v.ID] }), err
}

// CheckResource rejects a version of a resource that is too expensive to read, or that its plugin
// cannot have created. base, if not "", is a version that was already checked.
func (m *SessionManager) CheckResource(ctx context.Context, base string, r domarkx.ResourceVersion) error {
	if r.Version == base {
		return nil
	}
	err := m.store.CheckVersion(ctx, base, r.Version)
	if err == nil {
		err = m.env.Workspaces.CheckVersion(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("resource %q: %w", r.ID, err)
	}
	return nil
}

// ResourceVersion returns the version of the resource with that id, or "" if there is none.
func ResourceVersion(resources []domarkx.ResourceVersion, id string) string {
	for _, r := range resources {
		if r.ID == id {
			return r.Version
		}
	}
	return ""
}

// MadeElsewhere returns a function that reports whether a call of a message was made by another
// program and not here. link is the message's workspace version. If an import created that version,
// calls of resources that it lacks were made elsewhere.
func (m *SessionManager) MadeElsewhere(ctx context.Context, link string) (func(call domarkx.Block) bool, error) {
	here := func(domarkx.Block) bool { return false }
	if link == "" {
		return here, nil
	}
	v, err := m.store.VersionOrStub(ctx, link)
	if err != nil || v.Operation != "import" {
		return here, err
	}
	return func(call domarkx.Block) bool {
		asked, err := toolcall.Parse(call.Text)
		return err == nil && call.Language == toolcall.Language && ResourceVersion(v.Resources, asked.Resource) == ""
	}, nil
}
