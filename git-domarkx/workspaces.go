package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/all"
	"github.com/domarkx/domarkx/plugins/limit"
)

// resourceVersions is the repository in the form that plugins need.
type resourceVersions struct{ *gitstore.Store }

// Begin starts a new version of a resource.
func (v resourceVersions) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return v.BeginVersion(ctx, base)
}

// workspaces returns the manager of the repository's live workspaces.
func (inv *invocation) workspaces(git *gitcmd.Git, store *gitstore.Store) *plugins.WorkspaceManager {
	return plugins.New(all.BuiltIn(), resourceVersions{store}, plugins.Config{
		Types:     func() []domarkx.Plugin { return all.Found(git.WorkTree) },
		Dir:       filepath.Join(git.StateDir(), "workspaces"),
		StateDir:  git.StateDir(),
		WorkTree:  git.WorkTree,
		WorkTrees: func() ([]string, error) { return git.WorkTrees(inv.ctx) },
		Limits:    func() (plugins.Limits, error) { return inv.limits(git) },
		Boot:      bootID(),
		Env:       os.LookupEnv,
		Warn:      func(message string) { inv.warn(fmt.Errorf("warning: %s", message)) },
	})
}

// bootID returns the kernel's random boot id (random(4)), or "" if the system has none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// limits returns what resources may do and use.
func (inv *invocation) limits(git *gitcmd.Git) (plugins.Limits, error) {
	var l plugins.Limits
	config, err := git.Config(inv.ctx)
	if err != nil {
		return l, err
	}
	if l.Forbidden, err = inv.forbidden(git); err != nil {
		return l, err
	}
	if l.Bounds, err = limit.Read(config); err != nil {
		return l, err
	}
	l.Allow, err = allowed(config)
	return l, err
}

// forbidden returns the directories that no resource may use.
func (inv *invocation) forbidden(git *gitcmd.Git) ([]string, error) {
	dirs := []string{git.GitDir, git.CommonDir}
	mounts, err := inv.listMounts()
	for _, m := range mounts {
		dirs = append(dirs, m.Dir)
	}
	return dirs, err
}

// allowed returns the actions that the user's configuration permits to resources.
func allowed(config *gitcmd.Config) (allow domarkx.Allow, err error) {
	allow = domarkx.Allow{Mounts: config.GetAll("domarkx.allowMount"), DSNs: config.GetAll("domarkx.allowDSN"), URLs: config.GetAll("domarkx.allowURL")}
	if allow.Network, err = config.Bool("domarkx.allowNetwork", false); err != nil {
		return allow, err
	}
	sandbox, err := config.Bool("domarkx.sandbox", true)
	allow.Unsandboxed = !sandbox
	return allow, err
}

// resourceTypes returns a manager that can only describe and check types of resources, and
// the work tree ("" outside a repository).
func (inv *invocation) resourceTypes() (workTree string, types *plugins.WorkspaceManager) {
	var except []string
	if git, err := inv.git(); err == nil {
		workTree = git.WorkTree
		except = append(except, workTree)
	}
	return workTree, plugins.New(all.BuiltIn(), nil, plugins.Config{WorkTree: workTree, Types: func() []domarkx.Plugin { return all.Found(except...) }})
}
