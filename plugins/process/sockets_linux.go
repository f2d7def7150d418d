package process

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/gitstore/glob"
)

// Landlock refuses connections to sockets that have a path from its ABI 9 on only. Where
// a command has a mount namespace, mounts hide these sockets on all kernels.

// hideSockets hides from this mount namespace the sockets outside the command's directories,
// and the directories in which more may be bound while it runs.
func (c command) hideSockets() error {
	for _, dir := range c.SocketDirs {
		err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755")
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("hiding the directory %q from the command: %w", dir, err)
		}
	}
	sockets, err := boundSockets()
	if err != nil {
		return fmt.Errorf("hiding sockets from the command: %w", err)
	}
	writable, sealed := resolve(c.Writable), resolve(c.Sealed)
	for _, path := range sockets {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // removed, hidden already, or out of this user's reach
		}
		if liesIn(path, writable) && !liesIn(path, sealed) || slices.Contains(c.Sockets, path) {
			continue
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("hiding the socket %q from the command: %w", path, err)
		}
	}
	return nil
}

// boundSockets returns the absolute paths to which sockets are bound (proc_net(5)). The
// sockets may have been removed or replaced.
func boundSockets() ([]string, error) {
	list, err := os.ReadFile("/proc/net/unix")
	paths := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		// The columns before the path hold no slash.
		if _, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " /"); ok {
			paths["/"+path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths)), err
}

// socketDirectories returns the directories in which the user's programs bind sockets and
// which a command can do without. It reads the environment of this program.
func (c command) socketDirectories() []string {
	dirs := []string{"/run/user", os.Getenv("XDG_RUNTIME_DIR")}
	for _, parent := range []string{"/tmp", os.Getenv("TMUX_TMPDIR")} {
		found, _ := glob.Below(parent, "tmux-*")
		dirs = append(dirs, slices.DeleteFunc(found, func(dir string) bool {
			_, err := strconv.ParseUint(strings.TrimPrefix(filepath.Base(dir), "tmux-"), 10, 32)
			return err != nil // the name does not end in a user's number
		})...)
	}
	tmux, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	for _, socket := range []string{tmux, os.Getenv("SSH_AUTH_SOCK")} {
		if dir := filepath.Dir(socket); holdsOnlySockets(dir) {
			dirs = append(dirs, dir)
		}
	}
	needed := resolve(c.needs())
	dirs = slices.DeleteFunc(resolve(dirs), func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir() || slices.ContainsFunc(needed, func(path string) bool { return liesIn(path, []string{dir}) })
	})
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// needs returns the paths that a command must be able to find. The PATH is that of this program, since the
// command's own may come from a document, which must not choose the visible sockets.
func (c command) needs() []string {
	paths := append([]string{c.Dir, c.Program, os.Getenv("HOME")}, c.Writable...)
	return append(paths, filepath.SplitList(os.Getenv("PATH"))...)
}

// holdsOnlySockets reports whether a directory holds nothing but sockets, and at least one.
func holdsOnlySockets(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Type() != os.ModeSocket })
}

// resolve returns the absolute paths that exist, without symbolic links.
func resolve(paths []string) []string {
	var resolved []string
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		if path, err := filepath.EvalSymlinks(path); err == nil {
			resolved = append(resolved, path)
		}
	}
	return resolved
}

// liesIn reports whether a path is one of some directories, or in one.
func liesIn(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		at, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(at)
	})
}
