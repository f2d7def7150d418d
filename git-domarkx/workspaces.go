package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/all"
)

// resourceVersions is the repository as plugins want it.
type resourceVersions struct{ *gitstore.Store }

// Begin starts a version of a resource.
func (v resourceVersions) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return v.BeginVersion(ctx, base)
}

// workspaces returns the manager of the workspaces that are live in a repository.
func (inv *invocation) workspaces(git *gitcmd.Git, store *gitstore.Store) (*plugins.WorkspaceManager, error) {
	allow, err := inv.allowed(git)
	if err != nil {
		return nil, err
	}
	forbidden := []string{git.GitDir, git.CommonDir}
	mounts, err := inv.mounts()
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		forbidden = append(forbidden, m.dir)
	}
	return plugins.New(resourceTypes(), resourceVersions{store}, plugins.Home{
		Dir:       filepath.Join(git.StateDir(), "workspaces"),
		WorkTree:  git.WorkTree,
		Forbidden: forbidden,
		Allow:     allow,
		Env:       os.LookupEnv,
		Warn:      func(message string) { inv.warn(fmt.Errorf("warning: %s", message)) },
	}), nil
}

// allowed returns what the user's configuration lets resources do.
func (inv *invocation) allowed(git *gitcmd.Git) (domarkx.Allow, error) {
	config, err := git.Config(inv.ctx)
	if err != nil {
		return domarkx.Allow{}, err
	}
	allow := domarkx.Allow{Mounts: config.GetAll("domarkx.allowMount"), DSNs: config.GetAll("domarkx.allowDSN"), URLs: config.GetAll("domarkx.allowURL")}
	if allow.Network, err = config.Bool("domarkx.allowNetwork", false); err != nil {
		return allow, err
	}
	sandbox, err := config.Bool("domarkx.sandbox", true)
	allow.Unsandboxed = !sandbox
	return allow, err
}

// pluginTypes returns the types of resources that there are, with or without a
// repository.
func (inv *invocation) pluginTypes() ([]plugins.Type, error) {
	return plugins.New(resourceTypes(), nil, plugins.Home{}).Types(inv.ctx)
}

// resourceTypes returns the plugins that are built in.
func resourceTypes() []domarkx.Plugin { return all.Types() }
