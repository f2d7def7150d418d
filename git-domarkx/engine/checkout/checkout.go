package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Request describes a version to write and the directory to write it to.
type Request struct {
	Of      engine.Revision // session that the version belongs to, or workspace of that name
	Version domarkx.Version
	Dir     string // must be empty or must not exist
	Yes     bool   // also write hazards (see checkHazards), as far as this user is permitted to
}

// Checkout writes a version of a workspace to a directory, each resource to a subdirectory, and
// returns descriptions of the parts that could not be written exactly. It returns a
// [*RefusedError] if the directory is not empty, or if the version contains hazards (see
// checkHazards) and r.Yes is false. If the process is killed, the
// directory is either complete or unchanged. A repeated checkout removes leftovers.
func (m *Manager) Checkout(ctx context.Context, r Request) ([]string, error) {
	if err := vacantDirectory(r.Dir); err != nil {
		return nil, err
	}
	for _, resource := range r.Version.Resources {
		if err := m.sessions.CheckResource(ctx, "", resource); err != nil {
			return nil, fmt.Errorf("workspace version %.12s: %w", r.Version.ID, err)
		}
	}
	if !r.Yes {
		if err := m.checkHazards(ctx, r); err != nil {
			return nil, err
		}
	}
	ids := make([]string, len(r.Version.Resources))
	for i, resource := range r.Version.Resources {
		ids[i] = resource.ID
	}
	s, whole, err := newStage(r.Dir, r.Version.ID, ids, removeRestored)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var left []string
	if !whole {
		if left, err = m.restoreTo(ctx, r, s.path); err != nil {
			return left, errors.Join(err, removeRestored(s.path))
		}
	}
	if err := s.finish(); err != nil {
		err = fmt.Errorf("moving %q to %q: %w", r.Dir, s.path, err)
		if !s.inside { // no part of it has been moved to dir yet
			err = errors.Join(err, removeRestored(s.path))
		}
		return left, err
	}
	return left, nil
}

// restoreTo writes the resources to subdirectories of dir.
func (m *Manager) restoreTo(ctx context.Context, r Request, dir string) (left []string, err error) {
	for _, resource := range r.Version.Resources {
		missing, err := restoreVersion(ctx, m.store, resource.Version, filepath.Join(dir, resource.ID), r.Yes)
		for _, what := range missing {
			left = append(left, resource.ID+": "+what)
		}
		if err != nil {
			return left, fmt.Errorf("writing resource %q to %q: %w", resource.ID, r.Dir, err)
		}
	}
	return left, nil
}

// vacantDirectory returns a [*RefusedError] if a directory contains anything but the leftovers of a
// killed checkout. The directory need not exist.
func vacantDirectory(dir string) error {
	names, err := namesIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { _, _, ok := parseStage(name); return ok }) {
		return errNotEmpty(dir)
	}
	return nil
}

func errNotEmpty(dir string) error {
	return &engine.RefusedError{Reason: fmt.Sprintf("directory %q is not empty: a workspace is written to an empty one", dir)}
}

// checkHazards returns a [*engine.RefusedError] if a version contains hazards. Of a trusted session,
// only nested repositories that run programs count: a version can come from a remote without a
// change of what the user trusts.
func (m *Manager) checkHazards(ctx context.Context, r Request) error {
	trusted, err := m.trustsRevision(ctx, r.Of)
	if err != nil {
		return err
	}
	var found []string
	for _, resource := range r.Version.Resources {
		var hazards []string
		if trusted {
			hazards, err = m.programs(ctx, resource)
		} else {
			hazards, err = m.hazards(ctx, resource)
		}
		if err != nil {
			return err
		}
		found = append(found, hazards...)
	}
	if len(found) == 0 {
		return nil
	}
	const most = 8
	more := ""
	if len(found) > most {
		found, more = found[:most], fmt.Sprintf(" and %d more", len(found)-most)
	}
	list := strings.Join(found, ", ") + more
	if trusted {
		return &engine.RefusedError{Reason: fmt.Sprintf("the workspace of %s holds nested repositories by which Git would run programs: %s; look at them in a mount, and write them all the same with --yes", r.Of.Name, list)}
	}
	return &engine.RefusedError{Reason: fmt.Sprintf("%s is not trusted, and its workspace holds what can do harm: %s; look at it in a mount, and write it all the same with --yes, or trust the session (git domarkx trust %s)",
		r.Of.Name, list, refname.Argument(r.Of.Name))}
}

// trustsRevision reports whether the user trusts a session. It returns false if no session has
// that name.
func (m *Manager) trustsRevision(ctx context.Context, r engine.Revision) (bool, error) {
	info, err := m.sessions.Resolve(ctx, r)
	if errors.Is(err, domarkx.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return m.trust.IsTrusted(ctx, info)
}

// programs returns descriptions of the programs of nested repositories.
func (m *Manager) programs(ctx context.Context, resource domarkx.ResourceVersion) (found []string, err error) {
	programs, err := m.trust.NestedPrograms(ctx, resource)
	for _, p := range programs {
		found = append(found, engine.QuotedPath(p.Path)+" ("+p.Why+")")
	}
	return found, err
}

// hazards returns descriptions of files that are dangerous just by being on the disk: files with
// a set-id bit or capabilities, devices, and nested repositories, because Git obeys their
// configuration.
func (m *Manager) hazards(ctx context.Context, resource domarkx.ResourceVersion) ([]string, error) {
	var found []string
	bare := map[string][]string{} // directory → names in it that a bare repository has
	err := domarkx.WalkVersion(ctx, m.store, resource.Version, func(path string, f domarkx.File) error {
		at := engine.QuotedPath(resource.ID + "/" + path)
		switch {
		case f.Type == domarkx.CharDevice || f.Type == domarkx.BlockDevice:
			found = append(found, f.Type.String()+" "+at)
		case f.Type == domarkx.Regular && f.Mode&0o6000 != 0:
			found = append(found, "set-id program "+at)
		case f.Type == domarkx.Regular && hasCapabilities(f):
			found = append(found, "program with capabilities "+at)
		case f.Type == domarkx.Directory && f.Mode&0o6000 != 0:
			found = append(found, "set-id directory "+at)
		case trust.IsGitName(f.Name):
			found = append(found, "nested repository "+at)
		}
		if part := trust.RepositoryPart(f.Name); part != "" {
			directory := strings.TrimSuffix(strings.TrimSuffix(path, f.Name), "/")
			was := trust.IsRepository(bare[directory])
			bare[directory] = append(bare[directory], part)
			if !was && trust.IsRepository(bare[directory]) && !trust.IsGitName(directory[strings.LastIndexByte(directory, '/')+1:]) {
				found = append(found, "nested repository "+engine.QuotedPath(resource.ID+"/"+directory))
			}
		}
		return nil
	})
	return found, err
}

// hasCapabilities reports whether a file grants privileges to the program that is started from it,
// like a set-id bit; see capabilities(7).
func hasCapabilities(f domarkx.File) bool {
	return slices.ContainsFunc(f.Xattrs, func(x domarkx.Xattr) bool { return x.Name == "security.capability" })
}
