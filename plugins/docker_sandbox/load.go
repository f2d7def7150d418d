package dockersandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// Load creates a container from the version's image and restores the version's files into it. It
// removes the old container only after that succeeded.
func (r *resource) Load(ctx context.Context, v domarkx.VersionReader, version string) error {
	var record imageRecord
	put := &difference{}
	err := domarkx.WalkVersion(ctx, v, version, func(path string, f domarkx.File) error {
		below, inRoot := strings.CutPrefix(path, rootPath+"/")
		switch {
		case path == "" || path == rootPath && f.Type == domarkx.Directory && !f.HasOwner:
			return nil
		case path == imagePath:
			text, err := readText(ctx, v, f)
			if err == nil {
				err = json.Unmarshal([]byte(text), &record)
			}
			return err
		case path == deletedPath:
			text, err := readText(ctx, v, f)
			if err == nil {
				put.Deleted, err = readDeleted(text)
			}
			return err
		case path == rootPath:
			below = ""
		case !inRoot:
			return fmt.Errorf("unexpected file %q in a version of a docker_sandbox: %w", path, domarkx.ErrCorrupt)
		}
		e, err := storedEntry(ctx, v, below, f)
		put.Items = append(put.Items, e)
		return err
	})
	if err == nil && record.Image == "" {
		err = fmt.Errorf("%s is missing: %w", imagePath, domarkx.ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("read version %s of resource %q: %w", version, r.env.Resource, err)
	}
	i, err := r.engine.imageOfLayers(ctx, record.Image, record.Layers)
	if err != nil {
		return err
	}
	return r.replace(ctx, i, false, put, func(app *agent.Application) error {
		for i := range put.Items {
			if err := restore(ctx, v, app, &put.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxText limits the size in bytes of image.json and of the list of deleted paths.
const maxText = 256 << 20

func readText(ctx context.Context, v domarkx.VersionReader, f domarkx.File) (string, error) {
	if f.Type != domarkx.Regular || f.Size > maxText {
		return "", fmt.Errorf("%q is a %v of %d bytes: %w", f.Name, f.Type, f.Size, domarkx.ErrCorrupt)
	}
	data, err := domarkx.ReadContent(ctx, v, f.ID, maxText)
	return string(data), err
}

// storedEntry returns the file of a container that a version has below rootPath.
func storedEntry(ctx context.Context, v domarkx.VersionReader, path string, f domarkx.File) (agent.Entry, error) {
	f.Name = ""
	if f.HardLink != "" {
		target, ok := strings.CutPrefix(f.HardLink, rootPath+"/")
		if !ok {
			return agent.Entry{}, fmt.Errorf("%q is a hard link to %q, which does not precede it: %w", path, f.HardLink, domarkx.ErrCorrupt)
		}
		f.HardLink = target
	}
	if f.Type == domarkx.Symlink {
		target, err := domarkx.ReadContent(ctx, v, f.ID, 1<<16)
		if err != nil {
			return agent.Entry{}, fmt.Errorf("%q: %w", path, err)
		}
		f.Target, f.ID = string(target), ""
	}
	return agent.Entry{Path: path, File: f}, nil
}

// restore restores a file with its content in a version.
func restore(ctx context.Context, v domarkx.VersionReader, app *agent.Application, it *agent.Entry) error {
	if it.Type != domarkx.Regular || it.HardLink != "" {
		return app.Put(it, nil)
	}
	c, err := v.Content(ctx, it.ID)
	if err != nil {
		return fmt.Errorf("%q: %w", it.Path, err)
	}
	defer c.Close()
	return app.Put(it, io.NewSectionReader(c, 0, c.Size()))
}

// replace creates a container from an image, restores a difference into it, verifies that, and makes it the resource's
// container instead of the old one. fill puts the items. dirty reports whether the files may differ from the last version.
func (r *resource) replace(ctx context.Context, i engineapi.Image, dirty bool, put *difference, fill func(*agent.Application) error) error {
	id, stamp, err := r.create(ctx, i)
	if err != nil {
		return err
	}
	s, base, last, err := r.fill(ctx, i, id, put, fill)
	if err == nil {
		err = writeRecord(baseFile(r.env.Dir, id), base)
	}
	if err == nil {
		err = writeRecord(lastFile(r.env.Dir, id), last)
	}
	old := r.state.Container
	if err == nil {
		err = r.use(ctx, i, id, stamp, dirty)
	}
	if err != nil {
		if s != nil {
			err = errors.Join(err, s.end(ctx))
		}
		return errors.Join(err, r.engine.remove(ctx, id), forgetOthers(r.env.Dir, old))
	}
	err = r.stop(ctx)
	r.session, r.serving, r.base = s, false, base
	if old != "" {
		err = errors.Join(err, r.engine.remove(ctx, old))
	}
	return errors.Join(err, forgetOthers(r.env.Dir, id))
}

// fill starts a new container, restores a difference into it and verifies the result.
func (r *resource) fill(ctx context.Context, i engineapi.Image, id string, put *difference, fill func(*agent.Application) error) (*session, *baseline, *difference, error) {
	s, err := r.engine.start(ctx, id, i)
	if err != nil {
		return nil, nil, nil, err
	}
	entries, err := r.scan(ctx, s)
	if err != nil {
		return s, nil, nil, err
	}
	base := newBaseline(entries)
	err = s.guard(ctx, func() error {
		return s.Apply(func(app *agent.Application) error {
			for _, path := range put.Deleted {
				if err := app.Delete(path); err != nil {
					return err
				}
			}
			return fill(app)
		})
	})
	if err != nil {
		return s, nil, nil, fmt.Errorf("fill container %.12s: %w", id, err)
	}
	frozen, err := s.freeze(ctx) // for its clock: no command runs yet
	if err != nil {
		return s, nil, nil, err
	}
	now, err := r.scan(ctx, s)
	if err != nil {
		return s, nil, nil, err
	}
	last, err := verify(base, put, now)
	if err != nil {
		return s, nil, nil, err
	}
	last.forgetRacy(frozen.Now)
	return s, base, last, s.guard(ctx, s.Thaw)
}

// verify checks that a container has exactly the image's files with the restored ones. It returns
// the difference with the inodes and times that later reveal changes.
func verify(base *baseline, put *difference, now []agent.Entry) (*difference, error) {
	found := base.compare(now, nil)
	if len(found.Items) != len(put.Items) || len(found.Deleted) != len(put.Deleted) {
		return nil, fmt.Errorf("the new container has %d files that differ from the image and lacks %d; expected %d and %d: %w",
			len(found.Items), len(found.Deleted), len(put.Items), len(put.Deleted), domarkx.ErrCorrupt)
	}
	for i := range found.Items {
		f, p := &found.Items[i], &put.Items[i]
		if f.Path != p.Path || f.HardLink != p.HardLink || !sameAttributes(f, p) {
			return nil, fmt.Errorf("%q is in the new container as %+v, expected %+v: %w", "/"+p.Path, *f, *p, domarkx.ErrCorrupt)
		}
		f.ID = p.ID
	}
	for i, path := range found.Deleted {
		if path != put.Deleted[i] {
			return nil, fmt.Errorf("%q is missing in the new container, expected %q to be missing: %w", "/"+path, "/"+put.Deleted[i], domarkx.ErrCorrupt)
		}
	}
	return &found, nil
}

// recreate moves the container's files to a new container of the same image. Some changes of the
// config cannot be applied to an existing container.
func (r *resource) recreate(ctx context.Context) error {
	d := &difference{}
	if b, err := readBaseline(baseFile(r.env.Dir, r.state.Container)); err != nil {
		return err
	} else if b != nil || r.state.Dirty {
		if err := r.start(ctx); err != nil {
			return err
		}
		if d, err = r.difference(ctx); err != nil {
			return err
		}
		last, err := readRecord[difference](lastFile(r.env.Dir, r.state.Container))
		if err != nil {
			return err
		}
		d.identify(last)
	}
	return r.replace(ctx, r.image, r.state.Dirty, d, func(app *agent.Application) error {
		var paths []string
		var files []*agent.Entry
		var links []*agent.Entry // after the files that they are links to
		for i := range d.Items {
			it := &d.Items[i]
			switch {
			case it.HardLink != "":
				links = append(links, it)
			case it.Type == domarkx.Regular:
				paths, files = append(paths, it.Path), append(files, it)
			default:
				if err := app.Put(it, nil); err != nil {
					return err
				}
			}
		}
		if len(paths) > 0 {
			old := r.session
			err := old.guard(ctx, func() error {
				return old.Read(paths, func(i int, content io.Reader) error { return app.Put(files[i], content) })
			})
			if err != nil {
				return err
			}
		}
		for _, it := range links {
			if err := app.Put(it, nil); err != nil {
				return err
			}
		}
		return nil
	})
}
