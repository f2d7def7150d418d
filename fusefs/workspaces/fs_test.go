//go:build linux || darwin

package workspaces_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// A kernel sends the messages of the kernel to a file system without a mount.
type kernel struct {
	*testing.T
	dir   string
	store *storetest.Workspaces
	fs    *workspaces.FS
	log   *bytes.Buffer
}

func newKernel(t *testing.T) *kernel {
	t.Helper()
	k := &kernel{T: t, dir: t.TempDir(), log: &bytes.Buffer{}}
	var err error
	if k.store, err = storetest.NewWorkspaces(k.dir); err != nil {
		t.Fatal(err)
	}
	k.serve(k.store)
	return k
}

// serve starts a file system with contents from a reader.
func (k *kernel) serve(contents domarkx.VersionReader) {
	k.fs = workspaces.New(workspaces.Config{
		Workspaces: k.store, Contents: contents, Logger: slog.New(slog.NewTextHandler(k.log, nil)), Started: time.Unix(1_600_000_000, 0),
		Spelled: strings.ToLower,
		Errno: func(err error) syscall.Errno {
			if errors.Is(err, domarkx.ErrNotFound) {
				return syscall.ENOENT
			}
			return syscall.EIO
		},
	})
}

// write makes the next version of a workspace with one resource "fs".
func (k *kernel) write(workspace string, tree storetest.Tree) domarkx.Version {
	k.Helper()
	v, err := k.store.Write(k.Context(), workspace, map[string]storetest.Tree{"fs": tree})
	if err != nil {
		k.Fatal(err)
	}
	return v
}

// lookup looks up each name of a path. It returns ENOENT for a name that the kernel may remember as missing.
func (k *kernel) lookup(path string) (fuse.EntryOut, fuse.Status) {
	k.Helper()
	out := fuse.EntryOut{NodeId: fuse.FUSE_ROOT_ID}
	for name := range strings.SplitSeq(path, "/") {
		header := fuse.InHeader{NodeId: out.NodeId}
		out = fuse.EntryOut{}
		status := k.fs.Lookup(nil, &header, name, &out)
		if status.Ok() && out.NodeId == 0 {
			status = fuse.ENOENT
		}
		if !status.Ok() {
			return out, status
		}
	}
	return out, fuse.OK
}

// node returns a node that must exist.
func (k *kernel) node(path string) fuse.EntryOut {
	k.Helper()
	out, status := k.lookup(path)
	if !status.Ok() {
		k.Fatalf("%s: %v", path, status)
	}
	return out
}

// page returns some names of a directory from an offset, and the offset after them.
func (k *kernel) page(dir, off uint64, size int) (names []string, next uint64) {
	k.Helper()
	buf := make([]byte, size)
	status := k.fs.ReadDir(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: dir}, Offset: off}, fuse.NewDirEntryList(buf, off))
	if !status.Ok() {
		k.Fatalf("listing node %d: %v", dir, status)
	}
	// A dirent has inode, offset, length of the name and type in 24 bytes, and the name, padded to 8 bytes.
	for next = off; len(buf) >= 24; {
		length := int(binary.NativeEndian.Uint32(buf[16:]))
		if length == 0 {
			break
		}
		if name := string(buf[24 : 24+length]); name != "." && name != ".." {
			names = append(names, name)
		}
		next = binary.NativeEndian.Uint64(buf[8:])
		buf = buf[24+(length+7)/8*8:]
	}
	return names, next
}

// list returns all names of a directory, read in pages of a size.
func (k *kernel) list(path string, size int) []string {
	k.Helper()
	dir := uint64(fuse.FUSE_ROOT_ID)
	if path != "" {
		dir = k.node(path).NodeId
	}
	var all []string
	for off := uint64(0); ; {
		names, next := k.page(dir, off, size)
		if next == off {
			return all
		}
		all, off = append(all, names...), next
	}
}

// read returns a part of a file.
func (k *kernel) read(path string, off uint64, size int) (string, fuse.Status) {
	k.Helper()
	buf := make([]byte, size)
	r, status := k.fs.Read(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: k.node(path).NodeId}, Offset: off}, buf)
	if !status.Ok() {
		return "", status
	}
	defer r.Done()
	data, status := r.Bytes(buf)
	return string(data), status
}

func (k *kernel) link(path string) (string, fuse.Status) {
	k.Helper()
	target, status := k.fs.Readlink(nil, &fuse.InHeader{NodeId: k.node(path).NodeId})
	return string(target), status
}

// TestFilesOfAVersion checks what programs see of each type of file.
func TestFilesOfAVersion(t *testing.T) {
	k := newKernel(t)
	file := func(kind domarkx.FileType, mode uint32) domarkx.File { return domarkx.File{Type: kind, Mode: mode} }
	v := k.write("w", storetest.Tree{
		"a":        {Content: "text"},
		"secret":   {File: file(domarkx.Regular, 0o600), Content: "s"},
		"run":      {File: file(domarkx.Regular, 0o4711), Content: "#!"},
		"link":     {File: file(domarkx.Symlink, 0o777), Content: "../else/where"},
		"fifo":     {File: file(domarkx.Fifo, 0o622)},
		"char":     {File: domarkx.File{Type: domarkx.CharDevice, Mode: 0o666, Major: 1, Minor: 3}},
		"block":    {File: domarkx.File{Type: domarkx.BlockDevice, Mode: 0o660, Major: 8, Minor: 1}},
		"d/b":      {Content: ""},
		"d/hard":   {File: domarkx.File{HardLink: "d/first"}},
		"d/first":  {Content: "shared"},
		"d/across": {File: domarkx.File{HardLink: "a"}},
	})
	top := "w/" + workspaces.Name(v) + "/fs/"
	for name, want := range map[string]struct{ mode, links, rdev, size uint32 }{
		"a":        {syscall.S_IFREG | 0o444, 1, 0, 4},
		"secret":   {syscall.S_IFREG | 0o444, 1, 0, 1},
		"run":      {syscall.S_IFREG | 0o555, 1, 0, 2},
		"link":     {syscall.S_IFLNK | 0o777, 1, 0, 13},
		"fifo":     {syscall.S_IFIFO | 0o444, 1, 0, 0},
		"char":     {syscall.S_IFCHR | 0o444, 1, 1<<8 | 3, 0},
		"block":    {syscall.S_IFBLK | 0o444, 1, 8<<8 | 1, 0},
		"d":        {syscall.S_IFDIR | 0o555, 1, 0, 0},
		"d/b":      {syscall.S_IFREG | 0o444, 1, 0, 0},
		"d/hard":   {syscall.S_IFREG | 0o444, 2, 0, 6},
		"d/first":  {syscall.S_IFREG | 0o444, 2, 0, 6},
		"d/across": {syscall.S_IFREG | 0o444, 2, 0, 4},
	} {
		entry := k.node(top + name)
		var out fuse.AttrOut
		if status := k.fs.GetAttr(nil, &fuse.GetAttrIn{InHeader: fuse.InHeader{NodeId: entry.NodeId}}, &out); !status.Ok() || out.Attr != entry.Attr {
			t.Errorf("%s: %v, %+v and %+v", name, status, out.Attr, entry.Attr)
		}
		a := out.Attr
		if a.Mode != want.mode || a.Nlink != want.links || a.Rdev != want.rdev || a.Size != uint64(want.size) || a.Mtime != 1_700_000_000 {
			t.Errorf("%s: %+v", name, a)
		}
		if a.Uid == uint32(os.Geteuid()) || a.Uid != a.Gid {
			t.Errorf("%s belongs to %d and %d", name, a.Uid, a.Gid)
		}
	}
	if k.node(top+"d/hard").NodeId != k.node(top+"d/first").NodeId || k.node(top+"d/across").Attr.Ino != k.node(top+"a").Attr.Ino {
		t.Error("hard links are different files")
	}
	for _, size := range []int{100, 4096} {
		if got := fmt.Sprint(k.list(top+"d", size)); got != "[across b first hard]" {
			t.Errorf("d has %s", got)
		}
	}
	if target, status := k.link(top + "link"); target != "../else/where" || !status.Ok() {
		t.Errorf("the link leads to %q, %v", target, status)
	}
	for _, name := range []string{"a", "d"} {
		if _, status := k.link(top + name); status != fuse.EINVAL {
			t.Errorf("%s as a link: %v", name, status)
		}
	}
	for path, want := range map[string]fuse.Status{top + "none": fuse.ENOENT, top + "a/b": fuse.ENOTDIR, top + "d/none/x": fuse.ENOENT, top + "link/x": fuse.ENOTDIR} {
		if _, status := k.lookup(path); status != want {
			t.Errorf("%s: %v, expected %v", path, status, want)
		}
	}
}

func TestReads(t *testing.T) {
	k := newKernel(t)
	large := string(bytesOf(7, 4<<20+5))
	v := k.write("w", storetest.Tree{"small": {Content: "0123456789"}, "empty": {}, "large": {Content: large}})
	top := "w/" + workspaces.Name(v) + "/fs/"
	for _, c := range []struct {
		name string
		off  uint64
		size int
		want string
	}{
		{"small", 0, 100, "0123456789"}, {"small", 0, 10, "0123456789"}, {"small", 0, 3, "012"}, {"small", 8, 5, "89"}, {"small", 10, 5, ""}, {"small", 1 << 40, 5, ""},
		{"empty", 0, 5, ""}, {"large", 0, 4096, large[:4096]}, {"large", 4 << 20, 100, large[4<<20:]}, {"large", 1<<20 - 10, 20, large[1<<20-10 : 1<<20+10]},
	} {
		if got, status := k.read(top+c.name, c.off, c.size); got != c.want || !status.Ok() {
			t.Errorf("%s from %d: %d bytes, %v", c.name, c.off, len(got), status)
		}
	}
	for _, path := range []string{"w", "w/" + workspaces.Name(v)} {
		if _, status := k.read(path, 0, 10); status != fuse.EBADF {
			t.Errorf("reading %s: %v", path, status)
		}
	}
}

// TestNamesAboveVersions checks the names of workspaces, of versions, and of all versions.
func TestNamesAboveVersions(t *testing.T) {
	k := newKernel(t)
	one := k.write("w", storetest.Tree{"a": {Content: "1"}})
	two := k.write("w", storetest.Tree{"a": {Content: "2"}})
	other := k.write("dir/deep", storetest.Tree{"a": {Content: "3"}})
	lost := k.write("gone", storetest.Tree{"a": {Content: "4"}})
	if err := k.store.Point("gone", ""); err != nil {
		t.Fatal(err)
	}
	name := workspaces.Name
	for path, want := range map[string]string{"": "[dir w]", "dir": "[deep]", "w": fmt.Sprintf("[%s %s latest]", name(one), name(two)), "dir/deep": fmt.Sprintf("[%s latest]", name(other)), ".versions": "[]"} {
		if got := fmt.Sprint(k.list(path, 300)); got != want {
			t.Errorf("%q has %s, expected %s", path, got, want)
		}
	}
	for path, want := range map[string]string{"w/" + name(one): "1", "w/" + name(two): "2", "W/" + strings.ToUpper(name(two)): "2", ".versions/" + name(lost): "4", ".versions/" + name(one): "1", "dir/deep/" + name(other): "3"} {
		if got, status := k.read(path+"/fs/a", 0, 10); got != want || !status.Ok() {
			t.Errorf("%s: %q, %v", path, got, status)
		}
	}
	for path, want := range map[string]fuse.Status{
		"gone": fuse.ENOENT, "none": fuse.ENOENT, "dir/none": fuse.ENOENT, "w/" + name(other): fuse.ENOENT, "w/" + name(lost): fuse.ENOENT, "w/none": fuse.ENOENT,
		"w/0007-" + one.ID: fuse.ENOENT, "w/1-" + one.ID: fuse.ENOENT, ".versions/0007-" + one.ID: fuse.ENOENT, ".versions/latest": fuse.ENOENT, ".versions/0001-" + strings.Repeat("0", 40): fuse.ENOENT,
		"dir/latest": fuse.ENOENT, "latest": fuse.ENOENT, "w/.versions": fuse.ENOENT, "w/latest/x": fuse.ENOTDIR, "w/" + name(one) + "/none": fuse.ENOENT,
	} {
		if _, status := k.lookup(path); status != want {
			t.Errorf("%s: %v, expected %v", path, status, want)
		}
	}
	if target, status := k.link("w/latest"); target != name(two) || !status.Ok() {
		t.Errorf("latest leads to %q, %v", target, status)
	}
}

// TestWorkspacesChange checks that a new version shows at once, that a listing that began before it goes on with the names of then,
// and that attributes change with the names.
func TestWorkspacesChange(t *testing.T) {
	k := newKernel(t)
	attr := func(path string) fuse.Attr {
		t.Helper()
		var out fuse.AttrOut
		if status := k.fs.GetAttr(nil, &fuse.GetAttrIn{InHeader: fuse.InHeader{NodeId: k.node(path).NodeId}}, &out); !status.Ok() {
			t.Fatalf("%s: %v", path, status)
		}
		return out.Attr
	}
	k.write("d/w", nil)
	one, before, dir := k.node("d/w/latest"), attr("d/w"), attr("d")
	first, next := k.page(k.node("d/w").NodeId, 0, 150)
	v := k.write("d/w", storetest.Tree{"a": {Content: "new"}})
	if rest, _ := k.page(k.node("d/w").NodeId, next, 4096); fmt.Sprint(append(first, rest...)) != fmt.Sprint([]string{strings.Split(fmt.Sprint(k.list("d/w", 4096)), " ")[0][1:], "latest"}) {
		t.Errorf("the listing went on with %q after %q", rest, first)
	}
	if got := k.list("d/w", 4096); len(got) != 3 || got[1] != workspaces.Name(v) {
		t.Errorf("the workspace has %q", got)
	}
	if target, _ := k.link("d/w/latest"); target != workspaces.Name(v) || k.node("d/w/latest").NodeId == one.NodeId {
		t.Errorf("latest leads to %q", target)
	}
	if old, status := k.fs.Readlink(nil, &fuse.InHeader{NodeId: one.NodeId}); !status.Ok() || string(old) == workspaces.Name(v) {
		t.Errorf("the former link leads to %q, %v", old, status)
	}
	if after := attr("d/w"); after.Mtimensec == before.Mtimensec && after.Mtime == before.Mtime || after.Ino != before.Ino {
		t.Errorf("attributes of the workspace: %+v, before %+v", after, before)
	}
	if after := attr("d"); after != dir {
		t.Errorf("the directory changed from %+v to %+v", dir, after)
	}
	k.write("d/x", nil)
	if after := attr("d"); after.Mtimensec == dir.Mtimensec {
		t.Error("a new workspace does not show in the attributes of its directory")
	}
	known := k.node("d/x")
	if err := k.store.Point("d/x", ""); err != nil {
		t.Fatal(err)
	}
	if _, status := k.lookup("d/x"); status != fuse.ENOENT {
		t.Errorf("a removed workspace: %v", status)
	}
	if status := k.fs.GetAttr(nil, &fuse.GetAttrIn{InHeader: fuse.InHeader{NodeId: known.NodeId}}, &fuse.AttrOut{}); status != fuse.ENOENT {
		t.Errorf("attributes of a removed workspace: %v", status)
	}
}

func TestForget(t *testing.T) {
	k := newKernel(t)
	v := k.write("w", storetest.Tree{"d/a": {Content: "1"}})
	path := "w/" + workspaces.Name(v) + "/fs/d/a"
	file := k.node(path)
	k.node(path) // a second lookup
	k.fs.Forget(file.NodeId, 1)
	if got, status := k.read(path, 0, 9); got != "1" || !status.Ok() {
		t.Errorf("with a lookup left: %q, %v", got, status)
	}
	k.fs.Forget(file.NodeId, 1000)
	if _, status := k.fs.Read(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: file.NodeId}}, make([]byte, 9)); status != fuse.EBADF {
		t.Errorf("a forgotten file: %v", status)
	}
	k.fs.Forget(file.NodeId, 1) // of nothing
	again := k.node(path)
	if again.NodeId == file.NodeId || again.Attr != file.Attr {
		t.Errorf("looked up again: %+v, was %+v", again, file)
	}
	for _, dir := range []string{"w", "w/latest"} {
		node := k.node(dir)
		k.fs.Forget(node.NodeId, 1<<40)
		header := fuse.InHeader{NodeId: node.NodeId}
		if status := k.fs.Lookup(nil, &header, "x", &fuse.EntryOut{}); status != fuse.ENOENT {
			t.Errorf("%s, forgotten: %v", dir, status)
		}
		if _, status := k.fs.Readlink(nil, &header); status != fuse.ENOENT {
			t.Errorf("the link %s, forgotten: %v", dir, status)
		}
		if status := k.fs.ReadDir(nil, &fuse.ReadIn{InHeader: header}, fuse.NewDirEntryList(make([]byte, 500), 0)); status != fuse.ENOENT {
			t.Errorf("listing %s, forgotten: %v", dir, status)
		}
		if status := k.fs.GetAttr(nil, &fuse.GetAttrIn{InHeader: header}, &fuse.AttrOut{}); status != fuse.ENOENT {
			t.Errorf("attributes of %s, forgotten: %v", dir, status)
		}
	}
	k.fs.Forget(fuse.FUSE_ROOT_ID, 1)
	if got := k.list("", 300); len(got) != 1 {
		t.Errorf("the root has %q", got)
	}
}

// hostile is a reader of versions whose one directory has given entries.
type hostile struct {
	domarkx.VersionReader
	files []domarkx.File
	top   error
}

func (h *hostile) Top(ctx context.Context, version string) (domarkx.File, error) {
	if h.top != nil {
		return domarkx.File{}, h.top
	}
	return h.VersionReader.Top(ctx, version)
}

func (h *hostile) Directory(context.Context, string) ([]domarkx.File, error) { return h.files, nil }

// TestDamagedVersions checks that damaged versions are errors, and that names that no kernel accepts are left out.
func TestDamagedVersions(t *testing.T) {
	k := newKernel(t)
	v := k.write("w", storetest.Tree{"a": {Content: "123"}})
	contents, err := os.ReadDir(filepath.Join(k.dir, "contents"))
	if err != nil || len(contents) != 1 {
		t.Fatal(contents, err)
	}
	id, top := contents[0].Name(), "w/"+workspaces.Name(v)
	regular := func(name string, size int64, id string) domarkx.File {
		return domarkx.File{Name: name, Type: domarkx.Regular, Mode: 0o644, Size: size, ID: id}
	}
	odd := &hostile{VersionReader: k.store, files: []domarkx.File{
		regular("..", 3, id), regular(".", 3, id), regular("", 3, id), regular("a/b", 3, id), regular("nul\x00", 3, id), regular(strings.Repeat("n", 1025), 3, id),
		regular("twice", 3, id), regular("short", 2, id), regular("long", 4, id), regular("gone", 3, "none"), regular("twice", 9, "none"), regular("fine", 3, id),
		{Name: "loop", Type: domarkx.Regular, Size: 3, ID: id, HardLink: "fs/loop"}, {Name: "pool", Type: domarkx.Regular, Size: 3, ID: id, HardLink: "../../x"},
		{Name: "target", Type: domarkx.Symlink, Size: 1 << 40, ID: id},
	}}
	k.serve(odd)
	if got := fmt.Sprint(k.list(top+"/fs", 4096)); got != "[fine gone long loop pool short target twice]" {
		t.Errorf("the names are %s", got)
	}
	if n := strings.Count(k.log.String(), "cannot show a name"); n != 6 {
		t.Errorf("%d names were reported: %s", n, k.log)
	}
	for name, want := range map[string]fuse.Status{"fine": fuse.OK, "twice": fuse.OK, "loop": fuse.OK, "pool": fuse.OK, "short": fuse.EIO, "long": fuse.EIO, "gone": fuse.ENOENT} {
		for _, size := range []int{1, 100} { // a part, and the whole
			if data, status := k.read(top+"/fs/"+name, 0, size); status != want || status.Ok() && data != "123"[:min(3, size)] {
				t.Errorf("%s: %q, %v, expected %v", name, data, status, want)
			}
		}
	}
	if _, status := k.link(top + "/fs/target"); status != fuse.EIO {
		t.Errorf("a target of the wrong size: %v", status)
	}
	for what, h := range map[string]*hostile{
		"of an unknown type": {VersionReader: k.store, files: []domarkx.File{{Name: "x", Type: 99}}},
		"of a lost link":     {VersionReader: k.store, files: []domarkx.File{{Name: "x", Type: domarkx.Symlink, ID: "none"}}},
		"without a top":      {VersionReader: k.store, top: errors.New("damaged")},
	} {
		k.serve(h)
		if _, status := k.lookup(top + "/fs/x"); status.Ok() {
			t.Errorf("%s: no error", what)
		}
	}
	if !strings.Contains(k.log.String(), "damaged") || !strings.Contains(k.log.String(), top) {
		t.Errorf("the log has no error: %s", k.log)
	}
}

// TestManyPrograms looks up, lists, reads and forgets from several goroutines at once.
func TestManyPrograms(t *testing.T) {
	k := newKernel(t)
	tree := storetest.Tree{}
	for i := range 300 {
		tree[fmt.Sprintf("d%d/f%d", i%7, i)] = storetest.Item{Content: fmt.Sprint(i)}
	}
	top := "w/" + workspaces.Name(k.write("w", tree)) + "/fs/"
	var programs sync.WaitGroup
	for n := range 4 {
		programs.Go(func() {
			for i := n; i < 300; i += 3 {
				path := fmt.Sprintf("%sd%d/f%d", top, i%7, i)
				out, status := k.lookup(path)
				if !status.Ok() {
					t.Errorf("%s: %v", path, status)
					return
				}
				buf := make([]byte, 10)
				r, status := k.fs.Read(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: out.NodeId}}, buf)
				if !status.Ok() {
					t.Errorf("%s: %v", path, status)
					return
				}
				if data, _ := r.Bytes(buf); string(data) != fmt.Sprint(i) {
					t.Errorf("%s has %q", path, data)
				}
				k.fs.Forget(out.NodeId, 1)
			}
		})
	}
	programs.Wait()
	if got := k.list(strings.TrimSuffix(top, "/"), 100); len(got) != 7 {
		t.Errorf("%q", got)
	}
	var out fuse.StatfsOut
	if status := k.fs.StatFs(nil, nil, &out); !status.Ok() || out.Bfree != 0 || out.Bavail != 0 || out.NameLen != 255 || k.fs.String() != "domarkx" {
		t.Errorf("%+v, %v", out, status)
	}
}
