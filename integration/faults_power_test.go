package integration_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A powered is a repository on a file system of its own in an image file. After a power
// cut, the data written to the image remains.
type powered struct {
	*site
	kind, image string
}

// makers lists the programs that create file systems, with the minimum size of an image.
var makers = map[string][]string{
	"ext4":  {"mkfs.ext4", "64M", "-q"},
	"xfs":   {"mkfs.xfs", "320M", "-q"},
	"btrfs": {"mkfs.btrfs", "128M", "-q"},
}

// fileSystems returns the file systems for the power-cut tests: ext4, and each of the
// others whose program is installed.
func fileSystems(t *testing.T) []string {
	t.Helper()
	needRoot(t, "mounting a file system")
	needProgram(t, makers["ext4"][0])
	known, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"ext4"}
	for _, kind := range []string{"xfs", "btrfs"} {
		if _, err := exec.LookPath(makers[kind][0]); err == nil && bytes.Contains(known, []byte("\t"+kind+"\n")) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// newPowered creates a repository on a new file system.
func newPowered(t *testing.T, kind string) powered {
	t.Helper()
	s := newSite(t)
	p := powered{site: s.at("disk/repo"), kind: kind, image: s.path("image")}
	maker := makers[kind]
	s.must("", "truncate", "-s", maker[1], p.image)
	s.must("", maker[0], append(maker[2:], p.image)...)
	mountImage(t, kind, p.image, s.path("disk"))
	s.git("init", "-q", "-b", "main", p.dir)
	s.must("", "sync", "-f", p.dir) // Git does not sync a new repository
	return p
}

func mountImage(t *testing.T, kind, image, dir string) {
	t.Helper()
	options := "loop"
	if kind == "xfs" {
		options += ",nouuid"
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", kind, "-o", options, image, dir).CombinedOutput(); err != nil {
		missing(t, "mounting %s: %v: %s", kind, err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// cut returns the repository as it would be after a power cut at this moment.
func (p powered) cut(t *testing.T) *site {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "image")
	p.must("", "cp", "--sparse=always", p.image, copied)
	disk := filepath.Join(t.TempDir(), "disk")
	mountImage(t, p.kind, copied, disk)
	return p.under(t).at(filepath.Join(disk, "repo"))
}

const poweredDocument = "```yaml workspace-config\nresources:\n  - {type: filesystem, id: fs}\n  - {type: git_repository, id: git}\n  - {type: sqlite, id: db}\n" +
	"  - {type: filesystem, id: place, path: place/deep}\n  - {type: local_shell, id: shell}\n```\n\n## user\n\nhello\n"

// TestFaultPowerCall cuts the power just after a call was acknowledged. The call's
// results must exist, nothing may report the call as interrupted, and the next call must
// not commit differences caused only by the power cut.
func TestFaultPowerCall(t *testing.T) {
	t.Parallel()
	for _, kind := range fileSystems(t) {
		t.Run(kind, func(t *testing.T) {
			p := newPowered(t, kind)
			p.write("s.md", poweredDocument)
			p.domarkx("import", "s.md")
			p.domarkx("trust", "s")
			all := kind == "ext4" || soaking() // file systems differ in how changes become durable, not in how calls make them
			for _, call := range []struct {
				always bool
				args   []string
			}{
				{all, []string{"fs", "write_file", "path=a.txt", "content=first"}},
				{true, []string{"fs", "write_file", "path=sub/deep/b.txt", "content=second"}},
				{all, []string{"place", "write_file", "path=new/c.txt", "content=third"}},
				{true, []string{"git", "write_file", "path=code.txt", "content=fourth"}},
				{true, []string{"git", "commit", "message=one"}},
				{all, []string{"db", "execute", "sql=create table t (n)"}},
				{all, []string{"db", "execute", "sql=insert into t values (42)"}},
				{true, []string{"fs", "move", "from=sub", "to=moved"}},
				{true, []string{"shell", "run_command", "command=for i in $(seq 30); do mkdir d$i && echo $i >d$i/f; done; ln -s d1 link; echo whole >d7/last"}},
				{all, []string{"fs", "edit_file", "path=a.txt", "old_text=first", "new_text=changed"}},
			} {
				if !call.always {
					continue
				}
				args := call.args
				p.domarkx(append([]string{"exec", "s"}, args...)...)
				after := p.cut(t)
				if o := after.try("", "git-domarkx", "status"); o.code != 0 || strings.Contains(o.out, "interrupted") || strings.Contains(o.out, "dirty") {
					t.Errorf("after %q: %s", args, o)
				}
			}
			after := p.cut(t)
			after.intact("after the power cut")
			live := strings.Split(after.domarkx("workspace", "path", "s"), "\n") // of fs, git, place and shell
			want := map[string]string{live[0] + "/moved/deep/b.txt": "second", live[1] + "/code.txt": "fourth", live[3] + "/link/f": "1\n", live[3] + "/d7/last": "whole\n"}
			if all {
				want[live[0]+"/a.txt"], want[live[2]+"/new/c.txt"] = "changed", "third"
				if got := after.domarkx("exec", "s", "db", "query", "sql=select n from t"); !strings.Contains(got, "42") {
					t.Errorf("the database gives %s", got)
				}
			}
			for path, want := range want {
				if got := after.read(path); got != want {
					t.Errorf("%s holds %q, expected %q", path, got, want)
				}
			}
			if got := after.domarkx("exec", "s", "git", "log"); !strings.Contains(got, `"one"`) {
				t.Errorf("the log of the live repository is %s", got)
			}
			after.at(live[1]).git("fsck", "--strict")
			if got := after.at(live[1]).git("status", "--short"); got != "" {
				t.Errorf("status of the live repository: %s", got)
			}
			if got := after.domarkx("workspace", "log", "s"); strings.Contains(got, "between calls") {
				t.Errorf("the power cut became a version: %s", got)
			}
		})
	}
}

// TestFaultPowerTrust cuts the power just after trust and the workspace of a session were
// recorded, and after they were revoked.
func TestFaultPowerTrust(t *testing.T) {
	t.Parallel()
	for _, kind := range fileSystems(t) {
		t.Run(kind, func(t *testing.T) {
			p := newPowered(t, kind)
			p.write("s.md", poweredDocument)
			p.write("t.md", poweredDocument)
			p.domarkx("import", "s.md", "t.md")
			p.domarkx("trust", "s")
			p.cut(t).domarkx("exec", "s", "fs", "list_dir", "path=.")
			p.domarkx("exec", "s", "fs", "write_file", "path=a.txt", "content=first")
			p.domarkx("trust", "t")
			p.domarkx("workspace", "attach", "t", "s")
			if got := p.cut(t).domarkx("exec", "t", "fs", "read_file", "path=a.txt"); !strings.Contains(got, "first") {
				t.Errorf("the attached session reads %s", got)
			}
			p.must("", "sync", "-f", p.dir)
			p.domarkx("trust", "--revoke", "s")
			p.domarkx("trust", "--revoke", "t")
			after := p.cut(t)
			for _, session := range []string{"s", "t"} {
				if o := after.try("", "git-domarkx", "exec", session, "fs", "list_dir", "path=."); o.code != 1 || !strings.Contains(o.err, "not trusted") {
					t.Errorf("after it was revoked: %s", o)
				}
			}
		})
	}
}

// TestFaultPowerOutput cuts the power just after checkouts and exports.
func TestFaultPowerOutput(t *testing.T) {
	t.Parallel()
	for _, kind := range fileSystems(t) {
		t.Run(kind, func(t *testing.T) {
			p := newPowered(t, kind)
			p.write("s.md", poweredDocument)
			p.domarkx("import", "s.md")
			p.domarkx("trust", "s")
			for _, name := range []string{"a.txt", "sub/deep/b.txt"} {
				p.domarkx("exec", "s", "fs", "write_file", "path="+name, "content=of "+name)
			}
			if err := os.Mkdir(p.path("empty"), 0o777); err != nil {
				t.Fatal(err)
			}
			p.write("old.md", "old")
			p.must("", "sync", "-f", p.dir)
			document := p.domarkx("show", "s")
			for _, test := range []struct {
				args  []string
				files map[string]string
			}{
				{[]string{"checkout", "s", "new/directory"}, map[string]string{"new/directory/fs/a.txt": "of a.txt", "new/directory/fs/sub/deep/b.txt": "of sub/deep/b.txt"}},
				{[]string{"checkout", "s", "empty"}, map[string]string{"empty/fs/a.txt": "of a.txt", "empty/fs/sub/deep/b.txt": "of sub/deep/b.txt"}},
				{[]string{"export", "--format", "md", "-o", "new.md", "s"}, map[string]string{"new.md": document}},
				{[]string{"export", "--format", "md", "-o", "old.md", "s"}, map[string]string{"old.md": document}},
				{[]string{"export", "--format", "md", "-o", "out/", "s"}, map[string]string{"out/s.md": document}},
				{[]string{"export", "--format", "agent-chatter", "-o", "teams/", "s"}, nil},
			} {
				said := p.domarkx(test.args...)
				after := p.cut(t)
				for name, want := range test.files {
					if data, err := os.ReadFile(after.path(name)); err != nil || string(data) != want {
						t.Errorf("after %q %s holds %.300q, %v", test.args, name, data, err)
					}
				}
				if test.files == nil {
					name := strings.TrimSpace(said)
					want := p.read(name)
					if data, err := os.ReadFile(after.path(name)); err != nil || string(data) != want {
						t.Errorf("after %q %s holds %.300q, %v", test.args, name, data, err)
					}
				}
			}
		})
	}
}
