package trust

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A Program is a part of a nested repository in a version by which Git would run a program, when the user only asks for the
// status there: a hook, a setting that Git itself does not write (see harmless), or a reference to a repository elsewhere.
//
// Trust does not cover the content of workspaces. The author of a version does not show whether its
// programs are the user's, because the next call commits pulled content as a version of this machine.
type Program struct {
	Path string // with the id of the resource
	Why  string
	id   string // of its content
}

// nestedPrograms returns the programs of the nested repositories in a version, sorted by path.
func (m *Manager) nestedPrograms(ctx context.Context, resource domarkx.ResourceVersion) ([]Program, error) {
	var found []Program
	parts := map[string][]Program{} // directory → what would count if it is a repository
	bare := map[string][]string{}
	err := domarkx.WalkVersion(ctx, m.store, resource.Version, func(at string, f domarkx.File) error {
		p := Program{Path: resource.ID + "/" + at, id: f.ID + f.Target}
		if f.Type != domarkx.Directory && IsGitName(f.Name) {
			inside, err := m.staysInside(ctx, resource.Version, at, f)
			if p.Why = "it leads to a repository elsewhere"; !inside {
				found = append(found, p)
			}
			return err
		}
		directory, name := parent(at)
		if part := repositoryPart(name); part != "" {
			bare[directory] = append(bare[directory], part)
		}
		gitDir, why, err := m.program(ctx, at, f)
		if p.Why = why; why != "" {
			parts[gitDir] = append(parts[gitDir], p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for directory, programs := range parts {
		if _, name := parent(directory); IsGitName(name) || isRepository(bare[directory]) {
			found = append(found, programs...)
		}
	}
	slices.SortFunc(found, func(a, b Program) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

// Load is the act of loading a version into a workspace. Trust in a session does not cover the content of
// its workspace, which a pull may have brought: it needs the right to the programs of nested repositories
// that the load would bring to the user's own files.
type Load struct {
	Into     permit.Permit   // to open the workspace
	From, To domarkx.Version // what is there, with an empty ID for nothing, and what is loaded
}

func (a Load) permitted(ctx context.Context, d *decision) (permission, error) {
	if a.Into.Right() == permit.None {
		return permission{}, fmt.Errorf("loading version %.12s: nothing permits to open the workspace: %w", a.To.ID, domarkx.ErrInvalid)
	}
	what := a.Into.What()
	what.Version = a.To.ID
	d.right = a.Into.Right()
	p := permission{a.Into.Session(), what, a.Into.Confinement()}
	if p.in != permit.Shared {
		return p, nil
	}
	return p, d.brought(ctx, a)
}

// brought requires the right to the programs of nested repositories that a load brings.
func (d *decision) brought(ctx context.Context, a Load) error {
	var brought []Program
	for _, r := range a.To.Resources {
		specs := a.Into.What().Resources
		i := slices.IndexFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == r.ID })
		if i < 0 {
			continue
		}
		if _, ok := specs[i].Config.Get("path"); !ok {
			continue
		}
		var known []Program
		if k := slices.IndexFunc(a.From.Resources, func(b domarkx.ResourceVersion) bool { return b.ID == r.ID }); k >= 0 {
			if a.From.Resources[k].Version == r.Version {
				continue
			}
			var err error
			if known, err = d.m.nestedPrograms(ctx, a.From.Resources[k]); err != nil {
				return err
			}
		}
		programs, err := d.m.nestedPrograms(ctx, r)
		if err != nil {
			return err
		}
		brought = append(brought, slices.DeleteFunc(programs, func(p Program) bool { return slices.Contains(known, p) })...)
	}
	if len(brought) == 0 {
		return nil
	}
	untrusted := &UntrustedError{Session: a.Into.Session(), Brought: brought}
	digest := Digest{}
	for _, p := range brought {
		untrusted.Listing = append(untrusted.Listing, Runs{p.Path, "in a nested repository", p.Why})
		digest = digest.with("brought", p.Path, p.Why, p.id)
	}
	return d.need(ctx, digest, false, func() (*UntrustedError, error) { return untrusted, nil })
}

// staysInside reports whether a .git is a file, such as that of a submodule, that leads to a
// directory of the version, or to nothing. What is in that directory counts by itself.
func (m *Manager) staysInside(ctx context.Context, version, at string, f domarkx.File) (bool, error) {
	data, err := m.small(ctx, f, 4<<10)
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	directory, _ := parent(at)
	for ok && strings.HasPrefix(target, "../") {
		ok, target = directory != "", target[len("../"):]
		directory, _ = parent(directory)
	}
	// A ".." after a symbolic link would not lead back.
	if err != nil || !ok || !filepath.IsLocal(target) || strings.Contains(target, "..") {
		return false, err
	}
	top, err := m.store.Top(ctx, version)
	if err != nil {
		return false, err
	}
	id := top.ID
	for name := range strings.SplitSeq(path.Join(directory, target), "/") {
		files, err := m.store.Directory(ctx, id)
		if err != nil {
			return false, err
		}
		id = ""
		for _, f := range files {
			if foldName(f.Name) != foldName(name) {
				continue
			}
			if f.Type != domarkx.Directory || id != "" {
				return false, nil
			}
			id = f.ID
		}
		if id == "" {
			return true, nil
		}
	}
	return true, nil
}

// small returns the content of a regular file of at most size bytes; nil for others.
func (m *Manager) small(ctx context.Context, f domarkx.File, size int64) ([]byte, error) {
	if f.Type != domarkx.Regular || f.Size > size {
		return nil, nil
	}
	return domarkx.ReadContent(ctx, m.store, f.ID, size)
}

// program returns why Git would run a program because of a file, "" if it would not, and the
// directory that has to be a repository for that.
func (m *Manager) program(ctx context.Context, path string, f domarkx.File) (gitDir, why string, err error) {
	gitDir, name := parent(path)
	switch folded := foldName(name); {
	case folded == "commondir":
		return gitDir, "it leads to a repository elsewhere", nil
	case folded == "config" || folded == "config.worktree":
		why, err := m.setting(ctx, f)
		return gitDir, why, err
	case folded == "hooks" && f.Type != domarkx.Directory:
		return gitDir, "it leads to hooks elsewhere", nil
	case f.Type == domarkx.Directory || strings.HasSuffix(folded, ".sample"):
		return "", "", nil
	}
	if gitDir, name = parent(gitDir); foldName(name) == "hooks" {
		return gitDir, "it is a hook", nil
	}
	return "", "", nil
}

// maxConfig is the size in bytes of the largest config file that is read.
const maxConfig = 64 << 10

// setting returns why a config file could make Git run programs, "" if it could not.
func (m *Manager) setting(ctx context.Context, f domarkx.File) (string, error) {
	if f.Type != domarkx.Regular {
		return "it is a " + f.Type.String(), nil
	}
	data, err := m.small(ctx, f, maxConfig)
	if err != nil {
		return "", err
	}
	if data == nil {
		return "it is unusually large", nil
	}
	if setting := oddSetting(string(data)); setting != "" {
		return fmt.Sprintf("it sets %q", setting), nil
	}
	return "", nil
}

// harmless lists the settings, by section, that Git itself writes to the config of a repository and
// that make it run nothing. Those of a section with a dot are the ones of its subsections. All other
// settings count as programs, because no list of dangerous settings is complete.
var harmless = map[string][]string{
	"core":       {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol"},
	"extensions": {"objectformat", "refstorage"},
	"init":       {"defaultbranch"},
	"pull":       {"rebase", "ff"},
	"push":       {"default"},
	"user":       {"name", "email"},
	"branch.":    {"remote", "merge", "rebase", "description"},
	"remote.":    {"url", "pushurl", "fetch", "tagopt"},
}

// oddSetting returns a setting of a config file that is not in harmless, "" if there is none. It
// understands only what Git itself writes, and returns the beginning of anything else.
func oddSetting(config string) string {
	section := "" // with a dot, if it is a subsection
	for line := range strings.Lines(config) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] != '[' {
			key, _, _ := strings.Cut(line, "=")
			key = strings.TrimRight(key, " \t")
			if !slices.Contains(harmless[section], strings.ToLower(key)) || strings.HasSuffix(line, `\`) {
				return strings.TrimSuffix(section, ".") + "." + key
			}
			continue
		}
		name, rest, _ := strings.Cut(line[1:], "]")
		name, sub, quoted := strings.Cut(name, ` "`)
		section = strings.ToLower(name)
		if quoted {
			section += "."
			sub, quoted = strings.CutSuffix(sub, `"`)
		}
		if rest != "" || strings.ContainsAny(sub, `"\`) || quoted != strings.HasSuffix(section, ".") || harmless[section] == nil {
			return "[" + name
		}
	}
	return ""
}

// parent splits a path into its directory and its name.
func parent(path string) (directory, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
