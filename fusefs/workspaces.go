//go:build linux || darwin

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

const workspacesName = "workspaces"

// patience is how long workspaces/ may be without its mount while the whole is
// being unmounted.
const patience = 500 * time.Millisecond

// A workspacesNode is the empty folder that the versions of workspaces are mounted
// on. fusermount(1) wants it writable for its user.
type workspacesNode struct{ fixedNode }

var (
	_ fs.NodeGetattrer = (*workspacesNode)(nil)
	_ fs.NodeStatfser  = (*workspacesNode)(nil)
)

func (n *workspacesNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr, syscall.S_IFDIR|0o755, 0, n.started)
	out.SetTimeout(always)
	return 0
}

// addWorkspaces adds what leads to the versions of workspaces.
func (n *rootNode) addWorkspaces(add func(name string, child fs.InodeEmbedder, mode uint32, ino uint64)) {
	if n.Beside != "" {
		add(workspacesName, &linkNode{node: node{view: n.view}, target: n.Beside, at: n.started}, syscall.S_IFLNK, number(workspacesName))
		return
	}
	add(workspacesName, &workspacesNode{fixedNode{node{view: n.view}}}, syscall.S_IFDIR, number(workspacesName))
}

// workspaceOf returns where the symbolic link of a message to its workspace leads;
// "" when it has none.
func (v *view) workspaceOf(ctx context.Context, session string, tip domarkx.Info, k int) (string, error) {
	tree := v.versions.Load()
	if tree == nil {
		return "", nil
	}
	id, err := v.Messages.Link(ctx, tip.ID, k)
	if err != nil || id == "" {
		return "", err
	}
	path, err := tree.Path(ctx, id, session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil // not fetched, as in a shallow clone
	}
	up := strings.Repeat("../", strings.Count(session, "/")+3)
	return up + workspacesName + "/" + path, err
}

// workspacesDir returns the folder that the versions of workspaces are mounted on,
// as the mount table has it.
func (s *Server) workspacesDir() string {
	return cmp.Or(s.view.Beside, filepath.Join(s.real, workspacesName))
}

// prepareBeside makes a folder to mount on, and returns its path as the mount table
// will have it.
func prepareBeside(ctx context.Context, dir string) (string, error) {
	if err := Recover(ctx, dir); err != nil {
		return dir, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dir, err
	}
	return filepath.EvalSymlinks(dir)
}

// mountWorkspaces mounts the versions of workspaces inside or beside the mount, and
// keeps them there as long as that is.
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
			// Whoever unmounts the whole begins here, but stops when he finds that it is in use.
			select {
			case <-outer:
				if s.view.Beside != "" {
					os.Remove(s.view.Beside) // it is empty, or not ours
				}
				return
			case <-time.After(patience):
			}
			if server, err = s.serveWorkspaces(); err != nil {
				s.view.log.Error("mounting the workspaces again", "dir", s.workspacesDir(), "err", err)
				return
			}
		}
	})
	return nil
}

// awaitWorkspaces waits until the versions are unmounted. Beside the whole they do not go with
// it when somebody unmounts only that: then they are let go.
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
	case <-ended: // they went before it, or with it
		return
	case <-time.After(patience):
	}
	if err := unmountLazily(s.workspacesDir()); err != nil {
		s.view.log.Error("unmounting the workspaces", "dir", s.workspacesDir(), "err", err)
	}
	<-ended
}

func (s *Server) serveWorkspaces() (*fuse.Server, error) {
	dir := s.workspacesDir()
	// One whose connection was cut stays in the mount table.
	if err := clearDead(dir); err != nil {
		return nil, err
	}
	v := s.view
	tree := workspaces.New(workspaces.Config{
		Workspaces: v.Workspaces, Versions: v.Versions, Contents: v.Contents,
		Started: v.started, Errno: Errno, Spelled: spelled, Logger: v.log,
	})
	server, err := fuse.NewServer(tree, dir, &fuse.MountOptions{
		Name:   subtype,
		FsName: sourceName(v.Options),
		// What is below an object id is found without a message; what programs ask for
		// beside content and attributes would be one for each file.
		DisableXAttrs:        true,
		EnableSymlinkCaching: true,
		DirectMount:          mountsDirectly(),
		MaxWrite:             1 << 20,
		MaxReadAhead:         1 << 20,
		MaxBackground:        64,
		DisableSplice:        true, // it is tried in vain for each answer that is in memory
		Options:              []string{"ro"},
	})
	if err != nil {
		return nil, err
	}
	v.versions.Store(tree)
	if err := begin(server, dir); err != nil {
		return server, err
	}
	readAhead(dir, 512<<10)
	return server, nil
}
