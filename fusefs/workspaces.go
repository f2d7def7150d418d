//go:build linux || darwin

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// patience is the time within which an unmount of the whole removes both mounts: that of
// the workspaces and that of the sessions.
const patience = 500 * time.Millisecond

// workspaceOf returns the target of the symbolic link from a message to its workspace
// version, or "" if it has none.
func (v *view) workspaceOf(ctx context.Context, session string, tip domarkx.Info, k int) (string, error) {
	tree := v.versions.Load()
	if tree == nil {
		return "", nil
	}
	id, err := v.Snapshots.Link(ctx, tip.ID, k)
	if err != nil || id == "" {
		return "", err
	}
	path, err := tree.Path(ctx, id, session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil // not fetched: a shallow clone
	}
	up := strings.Repeat("../", strings.Count(session, "/")+3)
	return up + mountpoint.Workspaces + "/" + path, err
}

// workspacesDir returns the mount point of the workspaces, as in the mount table.
func (s *Server) workspacesDir() string {
	return cmp.Or(s.view.Beside, filepath.Join(s.real, mountpoint.Workspaces))
}

// prepareBeside creates a directory to mount on, and returns its path as in the mount
// table.
func prepareBeside(ctx context.Context, dir string) (string, error) {
	if err := mountpoint.Recover(ctx, dir); err != nil {
		return dir, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dir, err
	}
	return filepath.EvalSymlinks(dir)
}

// mountWorkspaces mounts the workspaces inside or beside the mount of the sessions. While
// that exists, it mounts them again whenever they are unmounted.
func (s *Server) mountWorkspaces() error {
	server, err := s.serveWorkspaces()
	if err != nil {
		return err
	}
	outer := make(chan struct{})
	s.inner.Go(func() {
		s.fuse.Wait()
		close(outer)
	})
	s.inner.Go(func() {
		for {
			s.awaitWorkspaces(server, outer)
			// An unmount of the whole begins with the workspaces, and goes no further if
			// the mount of the sessions is in use.
			select {
			case <-outer:
				if s.view.Beside != "" {
					os.Remove(s.view.Beside) // fails if others put files there
				}
				return
			case <-time.After(patience):
			}
			if server, err = s.serveWorkspaces(); err != nil {
				s.view.Logger.Error("mounting the workspaces again", "dir", s.workspacesDir(), "err", err)
				return
			}
		}
	})
	return nil
}

// awaitWorkspaces waits until the workspaces are unmounted. If the mount of the sessions
// ends first, it unmounts the workspaces lazily.
func (s *Server) awaitWorkspaces(server *fuse.Server, outer <-chan struct{}) {
	ended := make(chan struct{})
	s.inner.Go(func() {
		server.Wait()
		close(ended)
	})
	select {
	case <-ended:
		return
	case <-outer:
	}
	select {
	case <-ended: // unmounted together with the sessions
		return
	case <-time.After(patience):
	}
	if err := mountpoint.UnmountLazily(s.workspacesDir()); err != nil {
		s.view.Logger.Error("unmounting the workspaces", "dir", s.workspacesDir(), "err", err)
	}
	<-ended
}

func (s *Server) serveWorkspaces() (*fuse.Server, error) {
	dir := s.workspacesDir()
	// A mount whose connection was cut stays in the mount table.
	if err := mountpoint.ClearDead(dir); err != nil {
		return nil, err
	}
	v := s.view
	tree := workspaces.New(workspaces.Config{
		Workspaces: v.Workspaces, Contents: v.Contents,
		Started: v.started, Errno: Errno, Spelled: spelled, Logger: v.Logger,
	})
	server, err := fuse.NewServer(tree, dir, &fuse.MountOptions{
		Name:   subtype,
		FsName: sourceName(v.Options),
		// Lookups below an object id need no message of the kernel. Extended attributes
		// would need one for each file.
		DisableXAttrs:        true,
		EnableSymlinkCaching: true,
		DirectMount:          mountpoint.MountsDirectly(),
		MaxWrite:             1 << 20,
		MaxReadAhead:         1 << 20,
		MaxBackground:        64,
		DisableSplice:        true, // answers in memory cannot be spliced
		Options:              []string{"ro"},
	})
	if err != nil {
		return nil, err
	}
	v.versions.Store(tree)
	if err := begin(server); err != nil {
		return server, err
	}
	mountpoint.ReadAhead(dir, 512<<10)
	return server, nil
}
