package dockersandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/limit"
)

// imageRecord is the content of image.json.
type imageRecord struct {
	Image  string   `json:"image"`
	Layers []string `json:"layers"`
}

const (
	imagePath   = "image.json"
	deletedPath = "deleted"
	rootPath    = "rootfs"
)

// Commit writes the files that differ from the image to w.
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	if r.lost != nil {
		return r.lost
	}
	if !r.state.Dirty {
		d, err := r.unchanged()
		if err != nil {
			return err
		}
		if d != nil {
			return r.addFiles(ctx, w, d)
		}
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	frozen, err := r.session.freeze(ctx)
	if err != nil {
		return errors.Join(err, r.abandon(ctx))
	}
	d, err := r.commitFrozen(ctx, w, frozen.Now)
	if thawed := r.session.guard(ctx, r.session.Thaw); thawed != nil {
		return errors.Join(err, thawed, r.abandon(ctx))
	}
	if err != nil {
		return err
	}
	if err := writeRecord(lastFile(r.env.Dir, r.state.Container), d); err != nil {
		return err
	}
	if r.state.Dirty != frozen.Busy {
		r.state.Dirty = frozen.Busy
		return r.state.write(r.env.Dir)
	}
	return nil
}

// unchanged returns the difference of a container in which nothing ran since it was committed or
// loaded. It returns nil if that difference is unknown.
func (r *resource) unchanged() (*difference, error) {
	d, err := readRecord[difference](lastFile(r.env.Dir, r.state.Container))
	if d != nil || err != nil {
		return d, err
	}
	if b, err := readBaseline(baseFile(r.env.Dir, r.state.Container)); b != nil || err != nil {
		return nil, err
	}
	return &difference{}, nil // the container never ran
}

func (r *resource) commitFrozen(ctx context.Context, w domarkx.VersionWriter, now int64) (*difference, error) {
	d, err := r.difference(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range d.sockets {
		r.env.Warn(fmt.Sprintf("resource %q: socket %q is not stored in versions", r.env.Resource, "/"+path))
	}
	r.left = d.leaveOut(r.env.Limits)
	dirversion.WarnOfLeftOut(r.left, r.env.Limits, func(message string) { r.env.Warn(fmt.Sprintf("resource %q: %s", r.env.Resource, message)) })
	last, err := readRecord[difference](lastFile(r.env.Dir, r.state.Container))
	if err != nil {
		return nil, err
	}
	d.identify(last)
	if err := r.store(ctx, w, d); err != nil {
		return nil, err
	}
	if err := r.addFiles(ctx, w, d); err != nil {
		return nil, err
	}
	d.forgetRacy(now)
	return d, nil
}

// leaveOut removes paths over the limits, and returns them.
func (d *difference) leaveOut(l domarkx.Limits) (left []domarkx.LeftOut) {
	d.Items = slices.DeleteFunc(d.Items, func(it agent.Entry) bool {
		large := l.File > 0 && it.Type == domarkx.Regular && it.Size > l.File
		if large {
			left = append(left, domarkx.LeftOut{Path: it.Path, Reason: limit.ReasonFile})
		}
		return large
	})
	over := limit.LeaveOut(d.usage(), l)
	within := func(path string) string {
		for ; path != "" && over[path] == ""; path = parentOf(path) {
		}
		return over[path]
	}
	d.Items = slices.DeleteFunc(d.Items, func(it agent.Entry) bool {
		if reason := within(it.HardLink); reason != "" && within(it.Path) == "" { // of a file that is left out
			over[it.Path] = reason
		}
		return within(it.Path) != ""
	})
	for _, path := range slices.Sorted(maps.Keys(over)) {
		left = append(left, domarkx.LeftOut{Path: path, Reason: over[path]})
	}
	return left
}

// usage says what the directories would add to a version.
func (d *difference) usage() *limit.Usage {
	parts, all := map[string][]limit.Part{}, map[string]*limit.Usage{}
	for i := range d.Items { // parents come first
		it := &d.Items[i]
		above := all[parentOf(it.Path)]
		if it.Type == domarkx.Directory {
			all[it.Path] = &limit.Usage{Path: it.Path, List: func() []limit.Part { return parts[it.Path] }}
			if it.Path != "" {
				above.Below = append(above.Below, all[it.Path])
			}
			continue
		}
		size := it.Size
		if it.HardLink != "" {
			size = 0
		}
		parts[above.Path] = append(parts[above.Path], limit.Part{Path: it.Path, Size: size})
		above.Own.Add(limit.Measures{Files: 1, Bytes: size})
	}
	if all[""] == nil {
		return &limit.Usage{List: func() []limit.Part { return nil }}
	}
	return all[""]
}

// LeftOut returns the files that the last commit left out. See [domarkx.OutLister].
func (r *resource) LeftOut() []domarkx.LeftOut { return r.left }

// identify copies the content ids of an earlier difference to the files that did not change since. last may be nil.
func (d *difference) identify(last *difference) {
	if last == nil {
		return
	}
	known := make(map[string]*agent.Entry, len(last.Items))
	for i := range last.Items {
		known[last.Items[i].Path] = &last.Items[i]
	}
	for i := range d.Items {
		it := &d.Items[i]
		if was := known[it.Path]; was != nil && it.Type == domarkx.Regular && untouched(it, was) && it.Size == was.Size {
			it.ID = was.ID
		}
	}
}

// racy is in nanoseconds. A file that changed so shortly before it was listed may change again without a new ctime, because
// file systems take times from a clock that ticks, on some only every 10 ms (inode(7), "timestamps").
const racy = 20_000_000

// forgetRacy makes the next commit read files again that changed shortly before they were listed
// at now, in nanoseconds since 1970.
func (d *difference) forgetRacy(now int64) {
	for i := range d.Items {
		if d.Items[i].CTime > now-racy {
			d.Items[i].CTime = 0
		}
	}
}

// difference lists the files that differ from the image.
func (r *resource) difference(ctx context.Context) (*difference, error) {
	now, err := r.scan(ctx, r.session)
	if err != nil {
		return nil, err
	}
	same, err := r.compareContents(ctx, now)
	if err != nil {
		return nil, err
	}
	d := r.base.compare(now, same)
	return &d, nil
}

// store stores the contents of the items that have no id yet.
func (r *resource) store(ctx context.Context, w domarkx.VersionWriter, d *difference) error {
	var paths []string
	var items []*agent.Entry
	at := make(map[string]*agent.Entry, len(d.Items))
	for i := range d.Items {
		it := &d.Items[i]
		at[it.Path] = it
		if it.Type == domarkx.Regular && it.HardLink == "" && it.ID == "" {
			paths, items = append(paths, it.Path), append(items, it)
		}
	}
	if len(paths) > 0 {
		err := r.session.guard(ctx, func() error {
			return r.session.Read(paths, func(i int, content io.Reader) error {
				id, size, err := w.Content(ctx, content)
				if err != nil {
					return fmt.Errorf("%q: %w", "/"+paths[i], err)
				}
				items[i].ID, items[i].Size = id, size
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("read files of container %.12s: %w", r.state.Container, err)
		}
	}
	for i := range d.Items {
		if it := &d.Items[i]; it.HardLink != "" {
			it.ID, it.Size = at[it.HardLink].ID, at[it.HardLink].Size
		}
	}
	return nil
}

func (r *resource) addFiles(ctx context.Context, w domarkx.VersionWriter, d *difference) error {
	if err := w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
		return err
	}
	name := r.state.Image
	if name == r.config.Image {
		name = r.config.written
	}
	record, err := json.MarshalIndent(imageRecord{Image: name, Layers: r.image.RootFS.Layers}, "", "  ")
	if err != nil {
		return err
	}
	if err := addText(ctx, w, imagePath, string(record)+"\n"); err != nil {
		return err
	}
	if len(d.Deleted) > 0 {
		if err := addText(ctx, w, deletedPath, writeDeleted(d.Deleted)); err != nil {
			return err
		}
	}
	for i := range d.Items {
		it := &d.Items[i]
		f := it.File
		f.HasOwner = true
		if it.HardLink != "" {
			f.HardLink = rootPath + "/" + it.HardLink
		}
		at := strings.TrimSuffix(rootPath+"/"+it.Path, "/")
		err := w.Add(ctx, at, f)
		if errors.Is(err, domarkx.ErrNotFound) && it.Type == domarkx.Regular && it.HardLink == "" {
			// An earlier version had this content, which was removed since.
			it.ID = ""
			if err = r.start(ctx); err == nil {
				err = r.store(ctx, w, d)
			}
			if err == nil {
				f.ID, f.Size = it.ID, it.Size
				err = w.Add(ctx, at, f)
			}
		}
		if err != nil {
			return fmt.Errorf("%q: %w", "/"+it.Path, err)
		}
	}
	return nil
}

func addText(ctx context.Context, w domarkx.VersionWriter, path, text string) error {
	id, size, err := w.Content(ctx, strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return w.Add(ctx, path, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
}
