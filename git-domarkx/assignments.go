package main

import (
	"context"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// assignments remembers in Git's configuration which sessions work in a workspace
// of another name: domarkx.NAME.workspace.
type assignments struct{ git *gitcmd.Git }

const assignmentVariable = ".workspace"

// List returns the workspaces by session.
func (a assignments) List(ctx context.Context) (map[string]string, error) {
	config, err := a.git.Config(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, session := range config.Subsections("domarkx") {
		if workspace, ok := config.Get("domarkx." + session + assignmentVariable); ok && workspace != "" {
			all[session] = workspace
		}
	}
	return all, nil
}

// Set gives a session a workspace, "" for that of its own name.
func (a assignments) Set(ctx context.Context, session, workspace string) error {
	key := "domarkx." + session + assignmentVariable
	if workspace == "" {
		return a.git.UnsetLocal(ctx, key)
	}
	return a.git.SetLocal(ctx, key, workspace)
}
