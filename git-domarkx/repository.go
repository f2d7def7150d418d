package main

import (
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// git returns the repository of the current directory.
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

// config returns a setting of Git's configuration. A setting that cannot be read, for
// example outside a repository, counts as unset.
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
