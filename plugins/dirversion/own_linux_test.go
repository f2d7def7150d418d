package dirversion_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestOwnGivesFilesTheirOwnersAndKeepsTheirModes(t *testing.T) {
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	if uid == 0 {
		uid, gid = 1234, 4321
	}
	ctx, m := t.Context(), plugintest.NewMemory()
	w, err := m.Begin(ctx, "")
	must(t, err)
	id, size, err := w.Content(ctx, strings.NewReader("#!/bin/sh\n"))
	must(t, err)
	owned := func(f domarkx.File) domarkx.File {
		f.HasOwner, f.UID, f.GID = true, uid, gid
		return f
	}
	must(t, w.Add(ctx, "", owned(domarkx.File{Type: domarkx.Directory, Mode: 0o755})))
	must(t, w.Add(ctx, "dir", owned(domarkx.File{Type: domarkx.Directory, Mode: 0o700})))
	must(t, w.Add(ctx, "dir/run", owned(domarkx.File{Type: domarkx.Regular, Mode: 0o4755, ID: id, Size: size})))
	must(t, w.Add(ctx, "link", owned(domarkx.File{Type: domarkx.Symlink, Mode: 0o777, Target: "/"})))
	must(t, w.Add(ctx, "mine", domarkx.File{Type: domarkx.Regular, Mode: 0o600, ID: id, Size: size}))
	version, err := w.Finish(ctx)
	must(t, err)
	dir := t.TempDir()
	must(t, dirversion.Write(ctx, m, version, dir, func(message string) { t.Error(message) }))
	must(t, dirversion.Own(ctx, m, version, dir))
	for name, mode := range map[string]uint32{"": 0o755, "dir": 0o700, "dir/run": 0o4755, "link": 0o777} {
		var st syscall.Stat_t
		must(t, syscall.Lstat(filepath.Join(dir, name), &st))
		if st.Uid != uid || st.Gid != gid || st.Mode&0o7777 != mode {
			t.Errorf("%q is %d:%d %o, want %d:%d %o", name, st.Uid, st.Gid, st.Mode&0o7777, uid, gid, mode)
		}
	}
	var st syscall.Stat_t
	must(t, syscall.Lstat(filepath.Join(dir, "mine"), &st))
	if st.Uid != uint32(os.Geteuid()) {
		t.Errorf("a file without an owner is %d's", st.Uid)
	}
}
