package refdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Claim says where a git may leave lock files when it is killed.
type Claim struct {
	Name     string   // claims of one name are served one after the other; part of a file name
	Prefixes []string // folders of references: "refs/domarkx-remotes/…/"
	Files    []string // lock files directly in the common directory: "shallow.lock"
}

// Guard calls run, which starts a git that moves references by itself, while the
// journal holds the claim: if the git is killed, the next holder of the lock
// removes the lock files. The git must get the inherited files
// ([gitcmd.Command].Inherit). The repository's lock must not be held: Guard takes it
// for a moment at the beginning, but not while run is at work.
func (r *Refs) Guard(ctx context.Context, claim Claim, run func(inherit []*os.File) error) error {
	if err := r.makeState(); err != nil {
		return err
	}
	turn, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock-"+claim.Name))
	if err != nil {
		return err
	}
	defer turn.Close()
	defer unlock(turn)
	e, err := r.claim(ctx, claim)
	if err != nil {
		return err
	}
	failed := run(inherited(e.file))
	var exit *gitcmd.Error
	if failed == nil || errors.As(failed, &exit) && exit.Code >= 0 {
		return errors.Join(failed, e.end()) // git ended by itself, and tidied up
	}
	e.leave()
	return failed
}

// claim writes the journal, which only the lock's holder may do.
func (r *Refs) claim(ctx context.Context, claim Claim) (*entry, error) {
	release, err := r.Lock(ctx)
	if err != nil {
		return nil, err
	}
	for _, prefix := range claim.Prefixes {
		locks, lockErr := r.locksBelow(prefix)
		for _, lock := range locks {
			lockErr = errors.Join(lockErr, r.unlockAbandoned(ctx, lock))
		}
		if lockErr != nil {
			return nil, errors.Join(lockErr, release())
		}
	}
	e, err := r.begin(record{Prefixes: claim.Prefixes, Files: claim.Files}, false)
	if released := release(); err == nil && released != nil {
		return nil, errors.Join(released, e.end())
	}
	return e, err
}
