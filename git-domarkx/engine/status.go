package engine

import (
	"context"
	"path/filepath"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// Status holds what needs the user's attention.
type Status struct {
	Drafts  []drafts.Draft
	Remotes []Divergence
}

// A Divergence is a session that differs between this repository and a remote.
type Divergence struct {
	Name   string
	Remote string
	State  string // "ahead", "behind", "diverged", "removed here", "only there"
}

// Status returns the drafts and the sessions that differ from the remotes as of the last contact.
func (m *SessionManager) Status(ctx context.Context, remotes []string) (Status, error) {
	var s Status
	var err error
	if s.Drafts, err = drafts.ListBroken(m.draftsDir()); err != nil {
		return s, err
	}
	local, err := m.tips(ctx)
	if err != nil {
		return s, err
	}
	workspaces, err := m.workspaceTips(ctx)
	if err != nil {
		return s, err
	}
	for _, remote := range remotes {
		tracked, err := m.Tracked(ctx, remote)
		if err != nil {
			return s, err
		}
		for _, name := range chosen(nil, tracked.Sessions) {
			state, err := compare(ctx, m.store.IsAncestor, local[name], tracked.Sessions[name])
			if err == nil && state == "" && workspaces[name] != "" {
				state, err = compare(ctx, m.store.IsEarlier, workspaces[name], tracked.Workspaces[name])
			}
			if err != nil {
				return s, err
			}
			if state != "" {
				s.Remotes = append(s.Remotes, Divergence{name, remote, state})
			}
		}
	}
	return s, nil
}

// compare returns the state of a local tip relative to the tip on a remote. within reports
// whether commit a is equal to b or an ancestor of it.
func compare(ctx context.Context, within func(ctx context.Context, a, b string) (bool, error), local, tracked string) (string, error) {
	switch {
	case local == tracked:
		return "", nil
	case local == "":
		return "only there", nil
	case tracked == "":
		return "ahead", nil
	}
	ahead, err := within(ctx, tracked, local)
	if err != nil {
		return "", err
	}
	if ahead {
		return "ahead", nil
	}
	behind, err := within(ctx, local, tracked)
	if err != nil {
		return "", err
	}
	if behind {
		return "behind", nil
	}
	return "diverged", nil
}

// draftsDir returns the directory with the journals of saves that are not snapshots yet.
func (m *SessionManager) draftsDir() string { return filepath.Join(m.env.StateDir, "drafts") }

// draft returns the draft of a session, and whether it has one.
func (m *SessionManager) draft(name string) (drafts.Draft, bool, error) {
	list, err := drafts.ListBroken(m.draftsDir())
	for _, d := range list {
		if d.Name == name {
			return d, true, err
		}
	}
	return drafts.Draft{}, false, err
}

// A Finding is a result of fsck, doctor or gc.
type Finding struct {
	Severity string // "error", "warning" or "info"
	What     string
	Where    string
	Fix      string
}

// CheckSnapshot renders every message of a snapshot and compares it with the recorded digests. It
// returns a finding for each damaged message.
func (m *SessionManager) CheckSnapshot(ctx context.Context, info domarkx.Info) ([]Finding, error) {
	v, err := loadView(ctx, m.store, info.ID)
	if err != nil {
		return []Finding{damage(info, err)}, ctx.Err()
	}
	var found []Finding
	for i := range v.placed {
		if _, err := v.bytes(ctx, i); err != nil {
			found = append(found, damage(info, err))
		}
		if i > 0 {
			if _, err := v.message(ctx, i-1); err != nil {
				found = append(found, damage(info, err))
			}
		}
	}
	if size := v.size(); size != info.Bytes {
		found = append(found, Finding{"error", "the recorded size of the document is wrong", info.Name + "@" + info.ID,
			"git domarkx rewind " + info.Name + "~1, then redo what came after"})
	}
	return found, ctx.Err()
}

func damage(info domarkx.Info, err error) Finding {
	return Finding{"error", err.Error(), info.Name + "@" + info.ID, "fetch the session from a remote or a backup: git domarkx pull"}
}
