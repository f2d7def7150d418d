package refdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Claim lists where a killed git may leave lock files.
type Claim struct {
	Name     string   // claims of the same name exclude each other; part of a file name
	Prefixes []string // directories of references: "refs/domarkx-remotes/…/"
	Files    []string // lock files in the common directory: "shallow.lock"
}

// Guard calls run, which starts a git that moves references itself, while a claim is in the
// journal: if the git is killed, the next holder of the repository's lock removes its lock
// files. The git must inherit the given files ([gitcmd.Command].Inherit). The caller must
// not hold the repository's lock: Guard takes it briefly before it calls run.
func (r *Refs) Guard(ctx context.Context, claim Claim, run func(inherit []*os.File) error) error {
	if err := r.makeState(); err != nil {
		return err
	}
	turn, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock-"+claim.Name))
	if err != nil {
		return err
	}
	defer turn.Close()
	defer func() { _ = unlock(turn) }()
	e, err := r.claim(ctx, claim)
	if err != nil {
		return err
	}
	failed := run(inherited(e.file))
	var exit *gitcmd.Error
	if failed == nil || errors.As(failed, &exit) && exit.Code >= 0 {
		return errors.Join(failed, e.end()) // git ended regularly and removed its locks
	}
	e.leave()
	return failed
}

// claim writes the claim to the journal, with the repository's lock held.
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
