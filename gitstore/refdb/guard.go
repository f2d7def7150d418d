package refdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Claim lists where a git that changes references may leave lock files if it is killed.
type Claim struct {
	Name     string   // part of a file name; of claims with the same name, only one is active at a time
	Prefixes []string // of references, ending in a slash: "refs/domarkx-remotes/origin/"
	Files    []string // names of lock files in the common directory: "shallow.lock"
}

// Guard calls run, which starts a git that changes references itself, such as git fetch. The claim is in the journal
// until run returns. If the git is killed, the next process that takes the repository's lock removes the git's lock
// files. run must let the git inherit the given files ([gitcmd.Command].Inherit). Guard takes the repository's lock for a
// moment before it calls run; so the caller must not hold it.
func (r *Refs) Guard(ctx context.Context, claim Claim, run func(inherit []*os.File) error) error {
	if err := r.makeState(); err != nil {
		return err
	}
	turn, err := lockPath(ctx, filepath.Join(r.git.StateDir(), "lock-"+claim.Name), true)
	if err != nil {
		return err
	}
	defer turn.Close()
	defer func() { _ = atomicfile.Unlock(turn) }()
	e, err := r.claim(ctx, claim)
	if err != nil {
		return err
	}
	failed := run(inherited(e.file))
	var exit *gitcmd.Error
	if failed == nil || errors.As(failed, &exit) && exit.Code >= 0 {
		return errors.Join(failed, e.end()) // git was not killed, and so has removed its lock files
	}
	e.leave()
	return failed
}

// claim takes the repository's lock, removes abandoned lock files below the prefixes, writes the claim to the journal, and
// releases the lock.
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
