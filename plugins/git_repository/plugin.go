package gitrepository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
)

// Plugin implements domarkx.Plugin.
type Plugin struct{}

// New returns the plugin.
func New() Plugin { return Plugin{} }

// Type returns "git_repository".
func (Plugin) Type() string { return "git_repository" }

const config = `{"type": "object", "properties": {` + directory.Properties + `,
"url": {"type": "string", "minLength": 1, "description": "repository to clone once: file, https or ssh; the user allows it with domarkx.allowURL"},
"branch": {"type": "string", "minLength": 1, "description": "branch of url to begin on"},
"ref": {"type": "string", "minLength": 1, "description": "tag, commit or other ref of url to begin on, without a branch"}},
"dependentSchemas": {"url": {"properties": {"path": false}}, "branch": {"required": ["url"], "properties": {"ref": false}}, "ref": {"required": ["url"]}},
"additionalProperties": false}`

// Describe returns the config and the tools.
func (Plugin) Describe(context.Context) (domarkx.Description, error) {
	return domarkx.Description{Source: "built-in", Config: jsonvalue.MustParse(config), Tools: append(directory.Tools(), gitTools()...)}, nil
}

// excluded are the files of .git that versions omit. The index is one of them; versions contain
// its canonical form.
var excluded = []string{
	".git/index", ".git/*.lock", ".git/refs/**/*.lock", ".git/objects/**/tmp_*", ".git/gc.pid", ".git/fsmonitor--daemon*", ".git/domarkx",
}

// Open opens the repository of a resource. It is created on first use unless a version is loaded
// before.
func (Plugin) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	if err := env.Literal("branch", "ref"); err != nil {
		return nil, err
	}
	inDirectory := env
	patterns := make([]jsonvalue.Value, len(excluded))
	for i, pattern := range excluded {
		patterns[i] = jsonvalue.StringValue(pattern)
	}
	own, _ := env.Config.Get("exclude")
	inDirectory.Config = env.Config.With("exclude", jsonvalue.ArrayValue(append(patterns, own.Items()...)...))
	f, err := directory.Open(inDirectory)
	if err != nil {
		return nil, err
	}
	r := &repository{Resource: f, env: env, gitDir: filepath.Join(f.Path(), ".git")}
	if err := r.notTheUsers(f.Hidden()); err != nil {
		f.Close(context.Background())
		return nil, err
	}
	if r.files, err = directory.OpenFiles(f.Path(), append(f.Hidden(), r.gitDir), filepath.Join(env.Dir, directory.NoteName)); err != nil {
		f.Close(context.Background())
		return nil, err
	}
	return r, nil
}

// notTheUsers rejects a Git directory that no resource may use.
func (r *repository) notTheUsers(forbidden []string) error {
	ours, err := os.Stat(r.gitDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, path := range forbidden {
		if theirs, err := os.Stat(path); err == nil && os.SameFile(ours, theirs) {
			return fmt.Errorf("%q is the repository that the session is in: %w; name a directory with another repository", r.Path(), domarkx.ErrInvalid)
		}
	}
	return nil
}
