package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// draftsDir returns the directory with the journals of saves that are not snapshots yet.
func (m *SessionManager) draftsDir() string { return filepath.Join(m.env.StateDir, "drafts") }

// Drafts returns the newest text of each session that could not become a snapshot.
func (m *SessionManager) Drafts() ([]drafts.Draft, error) { return drafts.ListBroken(m.draftsDir()) }

// draft returns the newest of a session's texts that could not become a snapshot. It ignores
// damaged drafts, which stay where they are and which fsck reports.
func (m *SessionManager) draft(name string) (drafts.Draft, bool, error) {
	list, err := m.Drafts()
	if drafts.IsDamage(err) {
		err = nil
	}
	for _, d := range list {
		if d.Name == name {
			return d, true, err
		}
	}
	return drafts.Draft{}, false, err
}

// A Finding is a result of fsck, doctor or gc.
type Finding = snapshot.Finding

// CheckSnapshot renders every message of a snapshot and compares it with the recorded digests. It
// returns a finding for each damaged message.
func (m *SessionManager) CheckSnapshot(ctx context.Context, info domarkx.Info) ([]Finding, error) {
	v, err := view.Load(ctx, m.store, info.ID)
	if err != nil {
		return []Finding{damage(info, err)}, ctx.Err()
	}
	var found []Finding
	for i := range v.Placed {
		if _, err := v.Bytes(ctx, i); err != nil {
			found = append(found, damage(info, err))
		}
		if i > 0 {
			if _, err := v.Message(ctx, i-1); err != nil {
				found = append(found, damage(info, err))
			}
		}
	}
	if size := v.Size(); size != info.Bytes {
		found = append(found, Finding{Severity: "error", What: "the recorded size of the document is wrong", Where: info.Name + "@" + info.ID,
			Fix: "git domarkx rewind " + refname.Argument(info.Name+"~1") + ", then redo what came after"})
	}
	return found, ctx.Err()
}

func damage(info domarkx.Info, err error) Finding {
	return Finding{Severity: "error", What: err.Error(), Where: info.Name + "@" + info.ID, Fix: "fetch the session from a remote or a backup: git domarkx pull"}
}

// Pending is the status of a session that was skipped because a mount has a save of it that is not yet in the session.
const Pending = "pending"

// A PendingError means that a mount acknowledged a save of a session that is not in the session
// yet, so that no other operation may change the session.
type PendingError struct {
	Name   string
	Reason string // why the save is not in the session, and what to do about it
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("session %q: a save in the mount is not in it yet: %s", e.Name, e.Reason)
}
