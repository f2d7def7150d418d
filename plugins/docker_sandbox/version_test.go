package dockersandbox_test

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/google/go-cmp/cmp"
)

// changes is a script that makes every kind of change that a version can store.
const changes = `set -e
cd /data
echo new > new; chmod 640 new; chown 12:34 new
mkdir -p deep/er/est; echo x > deep/er/est/file; mkdir empty; chmod 2775 empty
echo changed >> plain
rm -r gone; rm symlink; mkdir symlink; echo inside > symlink/inside
rm linked-a; echo alone > linked-a
ln linked-b linked-c
echo l > hard-1; ln hard-1 hard-2; ln hard-1 deep/hard-3
cp /bin/busybox set-id; chown 1000:1000 set-id; chmod 6755 set-id
ln -s "no where" dangling; chown -h 5:6 dangling
mkfifo fifo; chmod 622 fifo; ln fifo fifo-2
mknod char c 1 3; mknod block b 7 200; chmod 600 block
printf odd > "$(printf 'name\nwith \377 "quotes"\\')"
rm "$(printf 'latin-\351')"
echo w > .wh.x; echo o > .wh..wh..opq; mkdir .git; echo evil > .git/config; touch .gitmodules
touch "$(printf '%0255d' 0)"
dd if=/dev/urandom of=random bs=1000 count=70 2>/dev/null
chown 1000:1000 /home; chmod 700 /tmp
cp -p noted noted.bak; rm noted; mv noted.bak noted
chmod 600 /etc/passwd; chmod 644 /etc/passwd; cat /etc/group > /g; cat /g > /etc/group; rm /g
mv /home/user /home/other
nc -l -p 1 2>/dev/null & 
rm -f /etc/hosts 2>/dev/null || true
`

// changed lists the resulting differences with their parent directories.
const changed = `"" directory 755
"deleted" file 644
"image.json" file 644
"rootfs" directory 755
"rootfs/data" directory 755
"rootfs/data/.git" directory 755
"rootfs/data/.git/config" file 644
"rootfs/data/.gitmodules" file 644
"rootfs/data/.wh..wh..opq" file 644
"rootfs/data/.wh.x" file 644
"rootfs/data/000" file 644
"rootfs/data/block" block device 600 7,200
"rootfs/data/char" character device 644 1,3
"rootfs/data/dangling" symbolic link 777 5:6
"rootfs/data/deep" directory 755
"rootfs/data/deep/er" directory 755
"rootfs/data/deep/er/est" directory 755
"rootfs/data/deep/er/est/file" file 644
"rootfs/data/deep/hard-3" file 644
"rootfs/data/empty" directory 2775
"rootfs/data/fifo" FIFO 622
"rootfs/data/fifo-2" FIFO 622 = "rootfs/data/fifo"
"rootfs/data/hard-1" file 644 = "rootfs/data/deep/hard-3"
"rootfs/data/hard-2" file 644 = "rootfs/data/deep/hard-3"
"rootfs/data/linked-a" file 644
"rootfs/data/linked-b" file 644
"rootfs/data/linked-c" file 644 = "rootfs/data/linked-b"
"rootfs/data/name\nwith \xff \"quotes\"\\" file 644
"rootfs/data/new" file 640 12:34
"rootfs/data/noted" file 644
"rootfs/data/plain" file 600
"rootfs/data/random" file 644
"rootfs/data/set-id" file 6755 1000:1000
"rootfs/data/symlink" directory 755
"rootfs/data/symlink/inside" file 644
"rootfs/home" directory 755 1000:1000
"rootfs/home/other" directory 750 1000:1000
"rootfs/tmp" directory 700`

const deleted = `data/gone
"data/latin-\351"
home/user
`

// content returns a file of a version.
func content(t *testing.T, m *plugintest.Memory, version, path string) string {
	t.Helper()
	text := "not there"
	err := domarkx.WalkVersion(context.Background(), m, version, func(at string, f domarkx.File) error {
		if at != path {
			return nil
		}
		c, err := m.Content(context.Background(), f.ID)
		if err != nil {
			return err
		}
		defer c.Close()
		data, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
		text = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// export lists a container's files as the engine itself gives them.
func (s *sandbox) export() string {
	s.t.Helper()
	found := containers(s.t, s.env.Dir)
	if len(found) != 1 {
		s.t.Fatalf("%d containers", len(found))
	}
	stream := strings.NewReader(docker(s.t, "export", found[0].ID))
	var lines []string
	links := map[string]string{}
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(lines, "\n")
		}
		if err != nil {
			s.t.Fatal(err)
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			s.t.Fatal(err)
		}
		if h.Typeflag == tar.TypeLink {
			links[h.Name] = h.Linkname
		}
		lines = append(lines, fmt.Sprintf("%q %c %o %d:%d %d %q %d,%d %q %x", h.Name, h.Typeflag, h.Mode, h.Uid, h.Gid, h.Size, h.Linkname,
			h.Devmajor, h.Devminor, h.PAXRecords["SCHILY.xattr.security.capability"], sum.Sum(nil)[:8]))
	}
}

func TestVersion(t *testing.T) {
	s := open(t, plainConfig)
	m := plugintest.NewMemory()
	s.run(changes)
	full := s.commit(m)
	long := strings.Repeat("0", 255)
	if diff := cmp.Diff(strings.ReplaceAll(changed, `/000"`, `/`+long+`"`), list(t, m, full)); diff != "" {
		t.Fatalf("the version (-want +got):\n%s", diff)
	}
	if got := content(t, m, full, "deleted"); got != deleted {
		t.Errorf("deleted:\n%s", got)
	}
	if got := content(t, m, full, "rootfs/data/plain"); got != "data/plain\nchanged\n" {
		t.Errorf("plain: %q", got)
	}
	before := s.export()

	// Something else, and back.
	s.run("rm -rf /data /home; echo other > /other")
	other := s.commit(m)
	s.load(m, full)
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
	if diff := cmp.Diff(before, s.export()); diff != "" {
		t.Errorf("what the engine exports (-before +after):\n%s", diff)
	}
	if again := s.commit(m); again != full {
		t.Errorf("the version again:\n%s", cmp.Diff(list(t, m, full), list(t, m, again)))
	}
	s.run("true")
	if again := s.commit(m); again != full {
		t.Errorf("the version after a command:\n%s", cmp.Diff(list(t, m, full), list(t, m, again)))
	}

	if testing.Short() {
		return
	}
	// On another engine.
	engine, err := dockertest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	}()
	t.Run("elsewhere", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", engine.Host)
		if _, err := dockersandbox.New().Open(context.Background(), s.env); err != nil {
			t.Errorf("a container of another engine: %v", err)
		}
		env := s.env
		env.Dir = t.TempDir()
		if _, err := dockersandbox.New().Open(context.Background(), env); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "docker pull "+dockertest.Image) {
			t.Errorf("an image that is not there: %v", err)
		}
		if err := dockertest.Load(context.Background(), "", dockertest.Image, nil); err != nil {
			t.Fatal(err)
		}
		there := open(t, plainConfig)
		there.load(m, full)
		if diff := cmp.Diff(before, there.export()); diff != "" {
			t.Errorf("what the engine exports (-before +after):\n%s", diff)
		}
		there.run("true")
		if again := there.commit(m); again != full {
			t.Errorf("the version again:\n%s", cmp.Diff(list(t, m, full), list(t, m, again)))
		}
		there.load(m, other)
		if out := there.run("cat /other; ls -d /data /home 2>&1 | wc -l"); out != "other\n2\n" {
			t.Errorf("the other version: %s", out)
		}
	})
}

func (s *sandbox) load(m *plugintest.Memory, version string) {
	s.t.Helper()
	if err := s.live.Load(context.Background(), m, version); err != nil {
		s.t.Fatal(err)
	}
}
