package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// git returns the repository that the user is in.
func (inv *invocation) git() (*gitcmd.Git, error) {
	if inv.repository == nil {
		found, err := gitcmd.Discover(inv.ctx, ".", nil)
		if err != nil {
			return nil, err
		}
		inv.repository = found
	}
	return inv.repository, nil
}

// config returns a setting of Git's configuration. What cannot be read, as
// outside of a repository, is not set.
func (inv *invocation) config(key string) (string, bool) {
	git, err := inv.git()
	if err != nil {
		return "", false
	}
	config, err := git.Config(inv.ctx)
	if err != nil {
		return "", false
	}
	return config.Get(key)
}

// remotes returns the names of the repository's remotes.
func (inv *invocation) remotes() ([]string, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	config, err := git.Config(inv.ctx)
	if err != nil {
		return nil, err
	}
	return config.Subsections("remote"), nil
}

// chooseRemote returns the remote to speak to: the one that was named, else that
// of domarkx.remote, else the only one, else origin.
func (inv *invocation) chooseRemote(named string) (string, error) {
	remotes, err := inv.remotes()
	if err != nil {
		return "", err
	}
	configured, _ := inv.config("domarkx.remote")
	switch {
	case named != "" && !slices.Contains(remotes, named) && !strings.ContainsAny(named, "/:"):
		return "", fmt.Errorf("remote %q: %w; git remote lists those there are, and sessions are named after the remote", named, domarkx.ErrNotFound)
	case named != "":
		return named, nil
	case configured != "":
		return configured, nil
	case len(remotes) == 1:
		return remotes[0], nil
	case slices.Contains(remotes, "origin"):
		return "origin", nil
	case len(remotes) == 0:
		return "", fmt.Errorf("remote: %w; add one with git remote add NAME URL", domarkx.ErrNotFound)
	}
	return "", fmt.Errorf("remote: %w: there are several (%s); name one, or set domarkx.remote", domarkx.ErrInvalid, strings.Join(remotes, ", "))
}
