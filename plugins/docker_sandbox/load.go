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
	var deleted []string
	var files []agent.Entry
	err := domarkx.WalkVersion(ctx, v, version, func(path string, f domarkx.File) error {
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
				deleted, err = readDeleted(text)
			}
			return err
		case path == rootPath:
			files = append(files, agent.Entry{File: f})
			return nil
		}
		below, ok := strings.CutPrefix(path, rootPath+"/")
		if !ok {
			return fmt.Errorf("unexpected file %q in a version of a docker_sandbox: %w", path, domarkx.ErrCorrupt)
		}
		files = append(files, agent.Entry{Path: below, File: f})
		return nil
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
	return r.replace(ctx, i, false, func(ctx context.Context, f *restorer) error {
		for _, path := range deleted {
			if err := f.delete(path); err != nil {
				return err
			}
		}
		for _, file := range files {
			if err := f.restore(ctx, v, file); err != nil {
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

// A restorer writes files to a new container.
type restorer struct {
	app  *agent.Application
	diff difference // the files restored so far
}

func (f *restorer) delete(path string) error {
	f.diff.deleted = append(f.diff.deleted, path)
	return f.app.Delete(path)
}

// put writes one file. content is that of a regular file, else nil.
func (f *restorer) put(it agent.Entry, content io.Reader) error {
	f.diff.items = append(f.diff.items, it)
	if it.HardLink != "" {
		return f.app.Link(it.Path, it.HardLink)
	}
	return f.app.Put(&it, content)
}

func (f *restorer) restore(ctx context.Context, v domarkx.VersionReader, it agent.Entry) error {
	it.Name = ""
	if it.HardLink != "" {
		link, ok := strings.CutPrefix(it.HardLink, rootPath+"/")
		if !ok {
			return fmt.Errorf("%q is a hard link to %q, which does not precede it: %w", it.Path, it.HardLink, domarkx.ErrCorrupt)
		}
		it.HardLink = link
	}
	var content io.Reader
	switch it.Type {
	case domarkx.Regular:
		c, err := v.Content(ctx, it.ID)
		if err != nil {
			return fmt.Errorf("%q: %w", it.Path, err)
		}
		defer c.Close()
		content = io.NewSectionReader(c, 0, c.Size())
	case domarkx.Symlink:
		target, err := domarkx.ReadContent(ctx, v, it.ID, 1<<16)
		if err != nil {
			return fmt.Errorf("%q: %w", it.Path, err)
		}
		it.Target, it.ID = string(target), ""
	}
	return f.put(it, content)
}

// replace creates a container from an image, calls fill to restore files into it, verifies them, and makes it the resource's
// container instead of the old one. dirty reports whether the files may differ from the last version.
func (r *resource) replace(ctx context.Context, i engineapi.Image, dirty bool, fill func(context.Context, *restorer) error) error {
	id, stamp, err := r.create(ctx, i)
	if err != nil {
		return err
	}
	s, base, last, err := r.fill(ctx, i, id, fill)
	if err == nil {
		err = base.write(baseFile(r.env.Dir, id))
	}
	if err == nil {
		err = last.write(lastFile(r.env.Dir, id))
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

// fill starts a new container, calls fill to restore files into it and verifies the result.
func (r *resource) fill(ctx context.Context, i engineapi.Image, id string, fill func(context.Context, *restorer) error) (*session, *baseline, *difference, error) {
	s, err := r.engine.start(ctx, id, i)
	if err != nil {
		return nil, nil, nil, err
	}
	entries, err := r.scan(ctx, s)
	if err != nil {
		return s, nil, nil, err
	}
	base := newBaseline(entries)
	var put difference
	err = s.guard(ctx, func() error {
		app, err := s.Apply()
		if err != nil {
			return err
		}
		f := &restorer{app: app}
		if err := fill(ctx, f); err != nil {
			return err
		}
		put = f.diff
		return app.Finish()
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
	last, err := verify(base, &put, now)
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
	if len(found.items) != len(put.items) || len(found.deleted) != len(put.deleted) {
		return nil, fmt.Errorf("the new container has %d files that differ from the image and lacks %d; expected %d and %d: %w",
			len(found.items), len(found.deleted), len(put.items), len(put.deleted), domarkx.ErrCorrupt)
	}
	for i := range found.items {
		f, p := &found.items[i], &put.items[i]
		if f.Path != p.Path || f.HardLink != p.HardLink || !sameAttributes(f, p) {
			return nil, fmt.Errorf("%q is in the new container as %+v, expected %+v: %w", "/"+p.Path, *f, *p, domarkx.ErrCorrupt)
		}
		f.ID = p.ID
	}
	for i, path := range found.deleted {
		if path != put.deleted[i] {
			return nil, fmt.Errorf("%q is missing in the new container, expected %q to be missing: %w", "/"+path, "/"+put.deleted[i], domarkx.ErrCorrupt)
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
		last, err := readDifference(lastFile(r.env.Dir, r.state.Container))
		if err != nil {
			return err
		}
		d.identify(last)
	}
	return r.replace(ctx, r.image, r.state.Dirty, func(ctx context.Context, f *restorer) error {
		for _, path := range d.deleted {
			if err := f.delete(path); err != nil {
				return err
			}
		}
		var paths []string
		var at []int
		for i := range d.items {
			if it := &d.items[i]; it.Type == domarkx.Regular && it.HardLink == "" {
				paths, at = append(paths, it.Path), append(at, i)
			}
		}
		next := 0
		plain := func(until int) error { // writes the items before until; they are not regular files and have no content
			for ; next < until; next++ {
				if err := f.put(d.items[next], nil); err != nil {
					return err
				}
			}
			return nil
		}
		if len(paths) > 0 {
			old := r.session
			err := old.guard(ctx, func() error {
				return old.Read(paths, func(i int, content io.Reader) error {
					if err := plain(at[i]); err != nil {
						return err
					}
					next++
					return f.put(d.items[at[i]], content)
				})
			})
			if err != nil {
				return err
			}
		}
		return plain(len(d.items))
	})
}
