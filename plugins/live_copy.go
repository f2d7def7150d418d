package plugins

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
)

// copySuffix is appended to the name of a resource's directory to name the one of the
// resource that reads its path.
const copySuffix = "-copy"

// copyPath copies the content at the path of a resource that was just opened as private because
// another instance works there. It opens a second resource at the path, commits that, loads the
// version into the private one, and tears the second one down, which does not change the path.
func (l *Live) copyPath(ctx context.Context, i int) error {
	e, r := &l.state.Resources[i], l.resources[i]
	there := *e
	there.Directory, there.Private, there.Copy = e.Directory+copySuffix, false, false
	dir := filepath.Join(l.dir, there.Directory)
	if err := removeAll(dir); err != nil { // left by a killed process
		return err
	}
	p, err := l.m.versions.Begin(ctx, "")
	if err != nil {
		return err
	}
	defer p.Abort()
	live, secrets, err := l.openPlugin(ctx, r.resourceType, &there)
	if err != nil {
		return errors.Join(err, removeAll(dir))
	}
	_, err = guard(ctx, l.m.config.Grace, nil, nothing(func(ctx context.Context) error {
		return errors.Join(live.Commit(ctx, p), live.TearDown(context.WithoutCancel(ctx)))
	}))
	err = secrets.error(err)
	version := ""
	if err == nil {
		version, err = p.Finish(ctx)
	}
	if err == nil {
		err = l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Load(ctx, l.m.versions, version) })
	}
	if err = errors.Join(err, removeAll(dir)); err != nil {
		return err
	}
	e.Copy = false
	return l.save()
}
