package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Image is the name of the image that [Use] loads.
const Image = "domarkx-test:busybox"

// created is the time of all files in an image.
var created = time.Unix(1700000000, 0).UTC()

// Files lists the files of an image besides busybox: one of each type.
func Files() []tar.Header {
	return []tar.Header{
		{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "home/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "home/user/", Typeflag: tar.TypeDir, Mode: 0o750, Uid: 1000, Gid: 1000},
		{Name: "root/", Typeflag: tar.TypeDir, Mode: 0o700},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "data/gone/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "data/gone/deep", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "data/linked-a", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "data/linked-b", Typeflag: tar.TypeLink, Linkname: "data/linked-a", Mode: 0o644},
		{Name: "data/plain", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "data/set-id", Typeflag: tar.TypeReg, Mode: 0o4755},
		{Name: "data/symlink", Typeflag: tar.TypeSymlink, Linkname: "plain", Mode: 0o777},
		{Name: "data/latin-\xe9", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "data/noted", Typeflag: tar.TypeReg, Mode: 0o644, PAXRecords: map[string]string{"SCHILY.xattr.user.note": "kept"}},
	}
}

// Load loads an image into the engine at host ("" stands for DOCKER_HOST). The image contains Debian's busybox-static with
// links for its commands, [Files], each with its own name as content, and the files of more, by path.
func Load(ctx context.Context, host, name string, more map[string][]byte) error {
	files, err := layer(more)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "docker", "import", "--change", "ENV PATH=/bin FROM_IMAGE=yes", "--change", `CMD ["sh"]`, "-", name)
	cmd.Env, cmd.Stdin = os.Environ(), bytes.NewReader(files)
	if host != "" {
		cmd.Env = append(cmd.Env, "DOCKER_HOST="+host)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("load the image: %w: %s", err, said)
	}
	return nil
}

func layer(more map[string][]byte) ([]byte, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("%w; apt-get install busybox-static", err)
	}
	busybox, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := exec.Command(path, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the commands of busybox: %w", err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	write := func(h tar.Header, data []byte) {
		if err == nil {
			err = add(w, h, data)
		}
	}
	write(tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	write(tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, busybox)
	for _, command := range strings.Fields(string(list)) {
		if command != "busybox" {
			write(tar.Header{Name: "bin/" + command, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	for _, h := range Files() {
		write(h, []byte(h.Name+"\n"))
	}
	write(tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n"))
	write(tar.Header{Name: "etc/group", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:\nuser:x:1000:\n"))
	for _, path := range slices.Sorted(maps.Keys(more)) {
		write(tar.Header{Name: path, Typeflag: tar.TypeReg, Mode: 0o644}, more[path])
	}
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func add(w *tar.Writer, h tar.Header, data []byte) error {
	h.ModTime, h.Format = created, tar.FormatPAX
	if h.Typeflag == tar.TypeReg {
		h.Size = int64(len(data))
	}
	if err := w.WriteHeader(&h); err != nil {
		return fmt.Errorf("%q: %w", h.Name, err)
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := w.Write(data)
	return err
}
