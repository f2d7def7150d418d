package dockersandbox

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
)

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
			if it := &d.items[i]; it.Type == domarkx.Regular && it.Link == "" {
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
