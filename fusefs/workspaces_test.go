//go:build linux

package fusefs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

// sorts has a file of each type.
func sorts() storetest.Tree {
	return storetest.Tree{
		"README":          {Content: "read me\n"},
		"bin/tool":        {Content: "#!/bin/sh\necho it runs\n", File: domarkx.File{Mode: 0o6755}},
		"bin/again":       {File: domarkx.File{HardLink: "bin/tool"}},
		"elsewhere":       {File: domarkx.File{HardLink: "bin/tool"}},
		"link":            {Content: "bin/tool", File: domarkx.File{Type: domarkx.Symlink}},
		"secret":          {Content: "secret", File: domarkx.File{Mode: 0o600}},
		"empty":           {},
		"hollow":          {File: domarkx.File{Type: domarkx.Directory}},
		"fifo":            {File: domarkx.File{Type: domarkx.Fifo, Mode: 0o666}},
		"null":            {File: domarkx.File{Type: domarkx.CharDevice, Mode: 0o666, Major: 1, Minor: 3}},
		"disk":            {File: domarkx.File{Type: domarkx.BlockDevice, Mode: 0o660, Major: 259, Minor: 70000}},
		"\xff\xfe":        {Content: "no UTF-8"},
		"new\nline":       {Content: "odd"},
		".git/config":     {Content: "[core]\n"},
		".git/HEAD":       {Content: "ref: refs/heads/main\n"},
		".gitmodules":     {Content: "x"},
		"deep/er/and/low": {Content: strings.Repeat("0123456789abcdef", 100_000)},
	}
}

func (m *mount) version(workspace string, resources map[string]storetest.Tree) domarkx.Version {
	m.Helper()
	v, err := m.spaces.Write(m.Context(), workspace, resources)
	if err != nil {
		m.Fatal(err)
	}
	return v
}

func directoryOf(v domarkx.Version) string { return fmt.Sprintf("%04d-%s", v.Number, v.ID) }

func TestVersionsShow(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	v := m.version("a/w", map[string]storetest.Tree{"fs": sorts(), "fs-2": {}})
	for range 2 { // from the store, from the kernel
		got := m.sh(`cd ../workspaces/a/w/latest; pwd -P | sed "s,.*/,,"; ls; cd fs; ls -A -N; cat README secret empty; cat "$(printf '\377\376')" new*; readlink link; bin/tool; cat .git/HEAD; md5sum <deep/er/and/low`)
		want := directoryOf(v) + "\nfs\nfs-2\n.git\n.gitmodules\nREADME\nbin\ndeep\ndisk\nelsewhere\nempty\nfifo\nhollow\nlink\nnew\nline\nnull\nsecret\n\xff\xfe\n" +
			"read me\nsecretno UTF-8oddbin/tool\nit runs\nref: refs/heads/main\n"
		sum := m.sh(`for i in $(seq 100000); do printf 0123456789abcdef; done | md5sum`)
		if got != want+sum {
			t.Errorf("shows %q, want %q", got, want+sum)
		}
		got = m.sh(`cd ../workspaces/a/w/latest/fs; stat -c '%n %A %h %u %g %s %t:%T %Y' README bin/tool bin/again elsewhere link secret empty hollow fifo null disk .`)
		want = `README -r--r--r-- 1 65534 65534 8 0:0 1700000000
bin/tool -r-xr-xr-x 2 65534 65534 23 0:0 1700000000
bin/again -r-xr-xr-x 2 65534 65534 23 0:0 1700000000
elsewhere -r-xr-xr-x 2 65534 65534 23 0:0 1700000000
link lrwxrwxrwx 1 65534 65534 8 0:0 1700000000
secret -r--r--r-- 1 65534 65534 6 0:0 1700000000
empty -r--r--r-- 1 65534 65534 0 0:0 1700000000
hollow dr-xr-xr-x 1 65534 65534 0 0:0 1700000000
fifo pr--r--r-- 1 65534 65534 0 0:0 1700000000
null cr--r--r-- 1 65534 65534 0 1:3 1700000000
disk br--r--r-- 1 65534 65534 0 103:11170 1700000000
. dr-xr-xr-x 1 65534 65534 0 0:0 1700000000
`
		if got != want {
			t.Errorf("stat: %s, want %s", got, want)
		}
		if got := m.sh(`cd ../workspaces/a/w/latest/fs; stat -c %i bin/tool bin/again elsewhere | uniq -c | awk '{print $1}'`); got != "3\n" {
			t.Errorf("a file of three names has other inodes: %s", got)
		}
	}
	for _, script := range []string{`cat null`, `dd if=disk count=0`} {
		if out, err := m.trySh(`cd ../workspaces/a/w/latest/fs; ` + script); err == nil || !strings.Contains(out, "Permission denied") {
			t.Errorf("%s: %q, %v", script, out, err)
		}
	}
	for _, script := range []string{`echo x > README`, `rm README`, `touch x`, `mkdir x`, `chmod 777 README`, `chown 0 README`, `mv README x`, `ln README x`, `ln -s x x`, `touch README`,
		`setfattr -n user.x -v x README`, `cd ..; rm -r fs`, `cd ../../..; mkdir x`, `cd ../../..; rmdir w`, `truncate -s 0 README`} {
		if out, err := m.trySh(`cd ../workspaces/a/w/latest/fs; ` + script); err == nil {
			t.Errorf("%s: %q", script, out)
		}
	}
	for _, name := range []string{"a/x", "x", "a/w/0002-" + v.ID, "a/w/1-" + v.ID, "a/w/0001-", "a/w/0001-" + v.ID[1:], "a/w/" + directoryOf(v) + "/fs/x", "a/w/" + directoryOf(v) + "/x", "latest", "a/latest"} {
		for range 2 {
			if _, err := os.Stat(m.path("workspaces/" + name)); !os.IsNotExist(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestToolsWorkInVersions(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	tree := storetest.Tree{}
	files := 1000
	if testing.Short() {
		files = 200
	}
	for i := range files {
		tree[fmt.Sprintf("d%02d/f%04d", i%50, i)] = storetest.Item{Content: fmt.Sprintf("file %d\n", i)}
	}
	tree["main.py"] = storetest.Item{Content: "import h.x, sys\nsys.exit(h.x.X)\n"}
	tree["h/x.py"] = storetest.Item{Content: "X = 7\n"}
	one := m.version("w", map[string]storetest.Tree{"fs": tree})
	tree["d07/f0007"] = storetest.Item{Content: "file seven\n"}
	delete(tree, "d08/f0008")
	two := m.version("w", map[string]storetest.Tree{"fs": tree})
	m.sh(`mkdir "$T/copy"; tar -C ../workspaces/w/` + directoryOf(one) + ` -cf - fs | tar -C "$T/copy" -xf -; diff -r ../workspaces/w/` + directoryOf(one) + ` "$T/copy"`)
	out, _ := m.trySh(`cd ../workspaces/w; diff -r ` + directoryOf(one) + ` ` + directoryOf(two))
	if want := "diff -r " + directoryOf(one) + "/fs/d07/f0007 " + directoryOf(two) + "/fs/d07/f0007\n1c1\n< file 7\n---\n> file seven\nOnly in " + directoryOf(one) + "/fs/d08: f0008\n"; out != want {
		t.Errorf("diff: %s", out)
	}
	if got := m.sh(`cd ../workspaces/w/latest/fs; find . -type f | wc -l; grep -rl 'file 1[0-9][0-9]$' . | wc -l; find . -type f | xargs cat | wc -l; find . -type f -printf '%i\n' | sort -u | wc -l; find . -links 1 -name 'f01*' | wc -l; python3 main.py || echo $?`); got != fmt.Sprintf("%[1]d\n100\n%d\n%[1]d\n100\n7\n", files+1, files+2) {
		t.Errorf("tools: %q", got)
	}
}

// TestFilesAreWholeAfterTheirNamesWereListed reads files and their attributes before and
// after programs that only list names.
func TestFilesAreWholeAfterTheirNamesWereListed(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	tree := storetest.Tree{}
	var names, sizes, contents strings.Builder
	for d := range 40 {
		for f := range 5 {
			name, content := fmt.Sprintf("d%02d/f%d", d, f), strings.Repeat("x", 10*d+f)+"\n"
			tree[name] = storetest.Item{Content: content}
			fmt.Fprintf(&names, "./%s\n", name)
			fmt.Fprintf(&sizes, "./%s %d\n", name, len(content))
			contents.WriteString(content)
		}
		name := fmt.Sprintf("d%02d/link", d)
		tree[name] = storetest.Item{Content: "f0", File: domarkx.File{Type: domarkx.Symlink}}
		fmt.Fprintf(&names, "./%s\n", name)
	}
	m.version("w", map[string]storetest.Tree{"fs": tree})
	for range 2 {
		for _, c := range []struct{ script, want string }{
			{"find . ! -type d | sort", names.String()},
			{"find . -type f -printf '%p %s\\n' | sort", sizes.String()},
			{"find . ! -type d | sort", names.String()},
			{"cat d*/f*", contents.String()},
			{"grep -rl x . | sort | grep -c /f", "199\n"},
			{"cat d39/link", strings.Repeat("x", 390) + "\n"},
		} {
			if got := m.sh("cd ../workspaces/w/latest/fs; " + c.script); got != c.want {
				t.Errorf("%s:\n%s, expected\n%s", c.script, got, c.want)
			}
		}
	}
}

func TestWorkspacesAreFresh(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	ls := func(dir string) string { return m.sh(`cd ../workspaces/` + dir + `; ls`) }
	if got := ls(""); got != "" {
		t.Errorf("ls: %q", got)
	}
	var names string
	var first domarkx.Version
	for i := range 5 {
		v := m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: fmt.Sprint(i)}}})
		if i == 0 {
			first = v
		}
		names += directoryOf(v) + "\n"
		for range 2 {
			if got := ls("w"); got != names+"latest\n" {
				t.Errorf("ls w: %q, want %q", got, names)
			}
			if got := m.sh(`cd ../workspaces/w; readlink latest; cat latest/fs/n; cat ` + directoryOf(v) + `/fs/n`); got != fmt.Sprintf("%s\n%d%d", directoryOf(v), i, i) {
				t.Errorf("latest: %q", got)
			}
			if got := ls(""); got != "w\n" {
				t.Errorf("ls: %q", got)
			}
		}
	}
	m.version("x/y", map[string]storetest.Tree{})
	if got := ls("") + ls("x") + ls("x/y/latest"); got != "w\nx\ny\n" {
		t.Errorf("ls: %q", got)
	}
	if err := m.spaces.Point("w", ""); err != nil {
		t.Fatal(err)
	}
	if got := ls(""); got != "x\n" {
		t.Errorf("ls after a removal: %q", got)
	}
	for _, name := range []string{"w", "w/latest", "w/" + directoryOf(first)} {
		if _, err := os.Stat(m.path("workspaces/" + name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := m.sh(`cat ../workspaces/.versions/` + directoryOf(first) + `/fs/n; ls ../workspaces/.versions`); got != "0" {
		t.Errorf("a version of no workspace: %q", got)
	}
	v := m.version("w", map[string]storetest.Tree{"other": {}})
	if got := ls("w") + ls("w/latest"); got != directoryOf(v)+"\nlatest\nother\n" {
		t.Errorf("ls of another of the name: %q", got)
	}
}

func TestManyVersionsAreListedWhileMoreAreMade(t *testing.T) {
	slow(t)
	m := mounted(t)
	const many = 3000
	for range many {
		m.version("w", nil)
	}
	dir, err := os.Open(m.path("workspaces/w"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var names []string
	for {
		some, err := dir.Readdirnames(500)
		names = append(names, some...)
		if err != nil || len(some) == 0 {
			break
		}
		m.version("w", nil)
	}
	if len(names) != many+1 || names[many] != "latest" {
		t.Errorf("%d names, the last is %q", len(names), names[len(names)-1])
	}
}

func TestMessagesLeadToTheirVersions(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	s := m.outside("a/s", "## user\n\none\n\n## assistant\n\ntwo\n")
	if got := m.sh(`ls ../messages/a/s/0001-assistant`); got != "message.json\nmessage.md\n" {
		t.Errorf("ls: %q", got)
	}
	v := m.version("a/s", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
	w := m.version("other", map[string]storetest.Tree{"fs": {"n": {Content: "2"}}})
	m.version("a/s", map[string]storetest.Tree{"fs": {"n": {Content: "3"}}})
	read := func() string {
		return m.sh(`cd ../messages/a/s/0001-assistant; ls | tr '\n' ' '; readlink workspace; cat workspace/fs/n`)
	}
	for _, c := range []struct {
		id, leads string
		prepare   func() error
	}{
		{v.ID, "a/s/" + directoryOf(v), nil},
		{w.ID, "other/" + directoryOf(w), nil},
		{w.ID, "third/" + directoryOf(w), func() error {
			return m.spaces.Point("third", w.ID)
		}},
		{w.ID, ".versions/" + directoryOf(w), func() error { return m.spaces.Point("third", "") }},
		{v.ID, "a/s/" + directoryOf(v), nil},
	} {
		if err := m.spaces.Link(s.ID, 1, c.id); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.leads, "third") {
			if err := m.spaces.Point("other", ""); err != nil {
				t.Fatal(err)
			}
		}
		if c.prepare != nil {
			if err := c.prepare(); err != nil {
				t.Fatal(err)
			}
		}
		n := "1"
		if c.id == w.ID {
			n = "2"
		}
		if got, want := read(), "message.json message.md workspace ../../../../workspaces/"+c.leads+"\n"+n; got != want {
			t.Errorf("leads to %q, want %q", got, want)
		}
	}
}

func TestNothingInAVersionRuns(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	ran := filepath.Join(m.dir, "ran")
	hook := "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch " + ran + "; false\"\n\tpager = touch " + ran + "\n"
	m.version("w", map[string]storetest.Tree{"fs": {
		".git/config": {Content: hook}, ".git/HEAD": {Content: "ref: refs/heads/main\n"}, ".git/objects/x": {}, ".git/refs/x": {}, "f": {Content: "f"},
		"bare/config": {Content: hook}, "bare/HEAD": {Content: "ref: refs/heads/main\n"}, "bare/objects/x": {}, "bare/refs/x": {},
	}})
	for _, environ := range []string{"", "SUDO_UID=1000 ", "SUDO_UID=0 "} {
		for _, dir := range []string{"fs", "fs/bare", "fs/.git"} {
			for _, command := range []string{"status", "log", "branch"} {
				out, err := m.trySh(`cd ../workspaces/w/latest/` + dir + ` && ` + environ + `GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git ` + command)
				if err == nil || !strings.Contains(out, "dubious ownership") {
					t.Errorf("%sgit %s in %s: %q, %v", environ, command, dir, out, err)
				}
			}
		}
	}
	if _, err := os.Stat(ran); !os.IsNotExist(err) {
		t.Errorf("a version has run something: %v", err)
	}
}

// inner returns the devices of the mounts at workspaces/.
func (m *mount) inner() []string {
	m.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		m.Fatal(err)
	}
	var devices []string
	for _, line := range mountpoint.Parse(data) {
		if on := line.Dir; on == m.path("workspaces") || on == filepath.Join(m.dir, "beside") {
			devices = append(devices, line.Device)
		}
	}
	return devices
}

func TestABusyVersionKeepsAllMounted(t *testing.T) {
	slow(t)
	t.Run("inside", func(t *testing.T) { busyVersions(mounted(t)) })
	t.Run("beside", func(t *testing.T) { busyVersions(mounted(t, besideVariable)) })
}

const besideVariable = serveVariable + "_BESIDE=1"

func busyVersions(m *mount) {
	m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
	for _, busy := range []string{"workspaces/w/latest/fs", "workspaces", "sessions", "."} {
		cmd := exec.Command("sleep", "1000")
		cmd.Dir = m.path(busy)
		if err := cmd.Start(); err != nil {
			m.Fatal(err)
		}
		err := mountpoint.Unmount(m.Context(), m.mnt)
		if busy != "." && (err == nil || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) || !strings.Contains(err.Error(), busy[:8])) {
			m.Errorf("unmounting what is used at %s: %v", busy, err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if got := m.read("workspaces/w/latest/fs/n"); got != "1" || len(m.inner()) != 1 {
			m.Errorf("after that: %q, %d mounts", got, len(m.inner()))
		}
	}
	// An invisible user: the kernel itself.
	hidden := filepath.Join(m.dir, "hidden")
	if err := os.Mkdir(hidden, 0o700); err != nil {
		m.Fatal(err)
	}
	for _, dir := range []string{"sessions", "workspaces/w"} {
		fd, err := unix.OpenTree(unix.AT_FDCWD, m.path(dir), 0)
		if err != nil {
			m.Fatal(err)
		}
		if err := mountpoint.Unmount(m.Context(), m.mnt); err == nil {
			m.Errorf("unmounted while this process has %s open", dir)
		}
		if got := m.read("workspaces/w/latest/fs/n"); got != "1" || len(m.inner()) != 1 {
			m.Errorf("after that: %q, %d mounts", got, len(m.inner()))
		}
		unix.Close(fd)
	}
	if err := mountpoint.Unmount(m.Context(), m.mnt); err != nil {
		m.Error(err)
	}
	if len(m.inner()) != 0 {
		m.Errorf("%d mounts stay", len(m.inner()))
	}
}

func TestADeadMountTakesItsVersionsAlong(t *testing.T) {
	t.Run("inside", func(t *testing.T) { deadVersions(mounted(t)) })
	t.Run("beside", func(t *testing.T) { deadVersions(mounted(t, besideVariable), besideVariable) })
}

func deadVersions(m *mount, environ ...string) {
	m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
	m.read("workspaces/w/latest/fs/n")
	for _, busy := range []string{"sessions", "workspaces/w/latest/fs"} {
		cmd := exec.Command("sleep", "1000")
		cmd.Dir = m.path(busy)
		if err := cmd.Start(); err != nil {
			m.Fatal(err)
		}
		m.kill()
		m.start(environ...)
		if got := m.read("workspaces/w/latest/fs/n"); got != "1" || len(m.inner()) != 1 {
			m.Errorf("after a kill: %q, %d mounts", got, len(m.inner()))
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	m.stop()
	if len(m.inner()) != 0 {
		m.Errorf("%d mounts stay", len(m.inner()))
	}
}

func TestVersionsComeBackWhenSomebodyUnmountsThem(t *testing.T) {
	m := mounted(t)
	m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
	if err := syscall.Unmount(m.path("workspaces"), unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	m.eventually("the versions are mounted again", func() bool { return len(m.inner()) == 1 })
	if got := m.read("workspaces/w/latest/fs/n"); got != "1" {
		t.Errorf("reads %q", got)
	}
}

func TestVersionsAreBesideTheMountOfAUser(t *testing.T) {
	m := mounted(t, besideVariable)
	s := m.outside("s", "## user\n\none\n")
	v := m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
	if err := m.spaces.Link(s.ID, 0, v.ID); err != nil {
		t.Fatal(err)
	}
	if got := m.sh(`cat ../messages/s/0000-user/workspace/fs/n; readlink ../workspaces; ls ../workspaces/ ../workspaces/w/latest`); got != "1"+m.dir+"/beside\n../workspaces/:\nw\n\n../workspaces/w/latest:\nfs\n" {
		t.Errorf("beside: %q", got)
	}
	m.stop()
	if _, err := os.Stat(filepath.Join(m.dir, "beside")); !os.IsNotExist(err) || len(m.inner()) != 0 {
		t.Errorf("stays: %v, %d mounts", err, len(m.inner()))
	}
}

func TestVersionsBesideGoWhenTheWholeIsUnmountedAlone(t *testing.T) {
	for name, used := range map[string]bool{"nobody uses them": false, "somebody is in them": true} {
		t.Run(name, func(t *testing.T) {
			m := mounted(t, besideVariable)
			m.version("w", map[string]storetest.Tree{"fs": {"n": {Content: "1"}}})
			user := exec.Command("sh", "-c", "read x; cat n")
			user.Dir = filepath.Join(m.dir, "beside/w/latest/fs")
			leave, err := user.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			user.Stdout = &said
			if used {
				if err := user.Start(); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Unmount(m.mnt, 0); err != nil {
				t.Fatal(err)
			}
			m.eventually("they are gone", func() bool { return len(m.inner()) == 0 })
			leave.Close()
			if used {
				if err := user.Wait(); err != nil || said.String() != "1" {
					t.Errorf("who is in them reads %q: %v", said.String(), err)
				}
			}
			m.stop()
			if _, err := os.Stat(filepath.Join(m.dir, "beside")); !os.IsNotExist(err) {
				t.Errorf("their directory stays: %v", err)
			}
		})
	}
}

// inVersion returns the resources of a version that has one, fs.
func inVersion(items storetest.Tree) map[string]storetest.Tree {
	return map[string]storetest.Tree{"fs": items}
}
