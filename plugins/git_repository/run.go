package gitrepository

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// overrides are settings of Git that take precedence over those of a repository.
var overrides = [][2]string{
	// settings that run programs
	{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"core.editor", ":"},
	{"core.askPass", ""}, {"core.sshCommand", "false"}, {"core.gitProxy", ""}, {"core.alternateRefsCommand", "false"},
	{"credential.helper", ""}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"gpg.program", "false"}, {"log.showSignature", "false"},
	{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"protocol.allow", "never"},
	// Submodules have their own config. Only their commit matters, for which git need not run in them.
	{"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "dirty"}, {"diff.submodule", "short"}, {"status.submoduleSummary", "false"}, {"fetch.recurseSubmodules", "false"},
	// settings that depend on the machine or create files that versions omit
	{"core.excludesFile", os.DevNull}, {"core.attributesFile", os.DevNull}, {"core.untrackedCache", "false"}, {"core.splitIndex", "false"},
	{"core.preferSymlinkRefs", "false"}, {"fetch.unpackLimit", "1"}, {"i18n.commitEncoding", "UTF-8"}, {"i18n.logOutputEncoding", "UTF-8"},
	{"color.ui", "false"}, {"advice.detachedHead", "false"},
	// the plugin checked the owner before
	{"safe.directory", "*"},
}

// environment returns git's environment, without the user's configuration, and with more settings than overrides.
func (r *repository) environment(top string, more ...[2]string) []string {
	settings := slices.Concat(overrides, more)
	env := []string{
		"GIT_DIR=" + filepath.Join(top, ".git"), "GIT_WORK_TREE=" + top, "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_EDITOR=:", "GIT_PAGER=cat",
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "TZ=UTC",
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings)),
	}
	for i, o := range settings {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(i)+"="+o[0], "GIT_CONFIG_VALUE_"+strconv.Itoa(i)+"="+o[1])
	}
	return append(env, inherited("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SystemRoot", "PATHEXT", "TEMP", "TMP")...)
}

// inherited returns the variables of this process that have one of some names.
func inherited(names ...string) (env []string) {
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// git creates the repository if necessary, inspects it, and returns the git command to use. It
// returns an error if the inspection finds a danger.
func (r *repository) git(ctx context.Context) (*gitcmd.Git, error) {
	if err := r.ensure(ctx); err != nil {
		return nil, err
	}
	if err := inspectFiles(r.gitDir); err != nil {
		return nil, err
	}
	g, err := gitcmd.Discover(ctx, r.Path(), r.environment(r.Path()))
	if err != nil {
		return nil, explain(ctx, err)
	}
	if err := inspectConfig(ctx, g); err != nil {
		return nil, explain(ctx, err)
	}
	return g, nil
}

// change runs a git command that changes the repository. A marker file exists meanwhile, so that
// the next Open can repair the repository if this process is killed.
func (r *repository) change(ctx context.Context, g *gitcmd.Git, c gitcmd.Command) error {
	if err := os.WriteFile(r.in(runningName), nil, 0o600); err != nil {
		return err
	}
	_, err := g.Do(ctx, c)
	if rerr := os.Remove(r.in(runningName)); rerr != nil && err == nil {
		err = rerr
	}
	return explain(ctx, err)
}

// explain converts an error of git to a ToolError.
func explain(ctx context.Context, err error) error {
	var failed *gitcmd.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed) && failed.Code > 0:
		why := strings.TrimSpace(failed.Stderr)
		if why == "" {
			why = failed.Error()
		}
		return &domarkx.ToolError{Code: domarkx.CodeFailed, Message: why}
	}
	return err
}

// identity returns the user's name and address for Git in this repository.
func (r *repository) identity(ctx context.Context) (string, error) {
	if _, err := r.git(ctx); err != nil {
		return "", err
	}
	env := slices.DeleteFunc(r.environment(r.Path()), func(v string) bool {
		return strings.HasPrefix(v, "GIT_CONFIG_GLOBAL=") || strings.HasPrefix(v, "GIT_CONFIG_NOSYSTEM=")
	})
	env = append(env, inherited("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "EMAIL", "XDG_CONFIG_HOME")...)
	g, err := gitcmd.Discover(ctx, r.Path(), env)
	if err != nil {
		return "", explain(ctx, err)
	}
	who, err := g.Author(ctx)
	if err != nil {
		return "", explain(ctx, err)
	}
	return who.Name + " <" + who.Email + ">", nil
}
