package main

import (
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
