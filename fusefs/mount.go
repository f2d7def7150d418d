//go:build linux || darwin

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A Server is a mount that this process serves.
type Server struct {
	real    string // the directory without symbolic links
	dir     string
	fuse    *fuse.Server
	view    *view
	tree    *sessions.Tree
	journal *drafts.Journal // nil when read-only

	inner sync.WaitGroup // the goroutines that serve workspaces/

	ended func() error // closes the tree and the journal, once
}

// Mount mounts the sessions and serves them until they are unmounted. It first completes
// the work that an earlier mount acknowledged. The mount is usable when Mount returns.
//
// This process must not open files of the mount with package os: Go's poller would wait
// for the answer, and so block the goroutine that has to give it.
//
// Mount replaces a mount whose process died. It returns [domarkx.ErrExists] if anything
// else is mounted on the directory, and [domarkx.ErrInvalid] if o.Dir is not a directory.
func Mount(ctx context.Context, o Options) (*Server, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("mounting on %q: %w", o.Dir, err)
	}
	o.Dir = dir
	if err := mountpoint.Recover(ctx, dir); err != nil {
		return nil, err
	}
	if o.Beside != "" {
		if o.Beside, err = prepareBeside(ctx, o.Beside); err != nil {
			return nil, fmt.Errorf("mounting beside %q: %w", dir, err)
		}
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("mounting on %q: %w", dir, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("mounting on %q: %w: it is not a directory", dir, domarkx.ErrInvalid)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// Do this before the mount exists: this process must not send requests to its own
	// mount.
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("mounting on %q: %w", dir, err)
	}
	s := &Server{dir: dir, real: real}
	if s.view, err = s.behind(ctx, o); err != nil {
		return nil, err
	}
	s.ended = sync.OnceValue(s.end)
	for try := 0; ; try++ {
		s.fuse, err = serve(s.view)
		if err == nil {
			break
		}
		// The first mount after a dead one was removed may fail.
		if try > 0 || mountpoint.Recover(ctx, dir) != nil {
			return nil, errors.Join(fmt.Errorf("mounting on %q: %w", dir, err), s.ended())
		}
	}
	if o.Workspaces == nil {
		return s, nil
	}
	if err := s.mountWorkspaces(); err != nil {
		gone := mountpoint.Unmount(ctx, dir)
		if errors.Is(gone, domarkx.ErrNotFound) { // it was unmounted meanwhile
			return s, nil
		}
		return nil, errors.Join(fmt.Errorf("mounting on %q: %w", s.workspacesDir(), err), gone, s.ended())
	}
	return s, nil
}

// behind creates the tree and the journal of the mount, and adopts the drafts of earlier
// mounts.
func (s *Server) behind(ctx context.Context, o Options) (*view, error) {
	v := &view{Options: o, started: time.Now(), statfs: o.Drafts,
		uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	v.sizes.Most, v.documents.Most = maxSizes, maxRenders
	v.documents.Cost = func(data []byte) int { return len(data) }
	v.histories.Most, v.roles.Most = 64, 16
	markdown := func(ctx context.Context, id string) ([]byte, error) {
		return v.rendered(ctx, render{id, -1, Markdown})
	}
	if o.ReadOnly {
		v.statfs = filepath.Dir(o.Dir)
		o.Changing = Changing{}
		v.tree = o.tree(markdown, nil)
		s.tree = v.tree
		return v, nil
	}
	journal, err := drafts.Open(o.Drafts)
	if err != nil {
		return nil, err
	}
	v.tree = o.tree(markdown, journal)
	s.journal, s.tree = journal, v.tree
	found, err := journal.Adopt()
	if err != nil {
		o.Logger.Error("reading the drafts of an earlier mount", "err", err)
	}
	if err := s.tree.Adopt(ctx, found); err != nil {
		o.Logger.Error("adopting the drafts of an earlier mount", "err", err)
	}
	return v, nil
}

// subtype follows "fuse." in the mount table, see [mountpoint.FileSystem].
const subtype = "domarkx"

// sourceName returns the source that the mount table shows.
func sourceName(o Options) string { return cmp.Or(o.Label, subtype) }

func serve(v *view) (*fuse.Server, error) {
	none := time.Duration(0)
	options := &fs.Options{
		EntryTimeout:    &none, // names above an object id are looked up each time
		NullPermissions: true,
		RootStableAttr:  &fs.StableAttr{Ino: number("/"), Gen: 1},
		MountOptions: fuse.MountOptions{
			Name:   subtype,
			FsName: sourceName(v.Options),
			// Otherwise the kernel asks for the attribute security.capability at each
			// write.
			DisableXAttrs: true,
			// The kernel may cache a file's content, because it changes only through the
			// kernel.
			ExplicitDataCacheControl: true,
			// The kernel decides for each listing whether it also wants the attributes.
			ExtraCapabilities: fuse.CAP_READDIRPLUS_AUTO,
			DirectMount:       true,
			MaxWrite:          1 << 20,
			MaxReadAhead:      1 << 20,
			Options:           []string{"default_permissions"},
		},
	}
	if v.ReadOnly {
		options.Options = append(options.Options, "ro")
	}
	// fs.Mount would open a file of the mount in this process. A process that is killed
	// while it waits for its own answer never ends.
	root := &rootNode{fixedNode{node{view: v}, dirMode, v.started, always}}
	server, err := fuse.NewServer(fs.NewNodeFS(root, options), v.Dir, &options.MountOptions)
	if err != nil {
		return nil, err
	}
	return server, begin(server)
}

// begin serves a mount in the background, and returns when it is usable.
func begin(server *fuse.Server) error {
	// Programs that are started meanwhile must not inherit the connection: it would
	// outlive this process.
	if err := mountpoint.KeepConnections(); err != nil {
		return err
	}
	go server.Serve()
	if runtime.GOOS == "darwin" {
		return server.WaitMount()
	}
	// On Linux mount(2) has returned already, and requests wait until the server starts.
	// WaitMount would send a request, which this process must not do (see serve).
	return nil
}

// Dir returns the absolute path of the mounted directory.
func (s *Server) Dir() string { return s.dir }

// Wait waits until the mount ends, however it ends, and all acknowledged saves are
// snapshots. The error names the saves that are not; the next mount retries them.
func (s *Server) Wait() error {
	s.fuse.Wait()
	s.inner.Wait()
	return s.ended()
}

// Settle creates snapshots of all saves so far at once. It returns the sessions that
// still have a save without a snapshot.
func (s *Server) Settle(ctx context.Context) []string { return s.tree.Settle(ctx) }

// Dismiss drops the broken save whose draft has this key, because its text was saved
// elsewhere.
func (s *Server) Dismiss(ctx context.Context, key string) error { return s.tree.DismissDraft(ctx, key) }

// TryUnmount unmounts the directory without waiting for saves. While the mount is in use it
// returns a [*mountpoint.BusyError] and changes nothing.
func (s *Server) TryUnmount(ctx context.Context) error {
	// Unmount would read the symbolic link MNT/workspaces, and this process would have to
	// answer that request.
	return mountpoint.UnmountBoth(ctx, s.dir, s.workspacesDir())
}

// end creates snapshots of all acknowledged saves, and closes the journal.
func (s *Server) end() error {
	err := s.tree.Close(context.Background())
	if s.journal != nil {
		err = errors.Join(err, s.journal.Close())
	}
	return err
}
