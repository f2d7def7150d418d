//go:build linux || darwin

package workspaces_test

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// TestEveryListingHasAttributes lists many directories, one after the other, as find
// does. Each entry has to have an inode, also in the last of them.
func TestEveryListingHasAttributes(t *testing.T) {
	store, err := storetest.NewWorkspaces(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree := storetest.Tree{}
	for i := range 40 {
		tree[fmt.Sprintf("d%02d/file", i)] = storetest.Item{Content: "1"}
	}
	version, err := store.Write(t.Context(), "w", map[string]storetest.Tree{"fs": tree})
	if err != nil {
		t.Fatal(err)
	}
	f := workspaces.New(workspaces.Config{
		Workspaces: store, Contents: store, Logger: slog.New(slog.DiscardHandler),
		Spelled: func(name string) string { return name }, Errno: func(error) syscall.Errno { return syscall.EIO },
	})
	lookup := func(dir uint64, name string) uint64 {
		t.Helper()
		var out fuse.EntryOut
		if status := f.Lookup(nil, &fuse.InHeader{NodeId: dir}, name, &out); !status.Ok() || out.NodeId == 0 {
			t.Fatalf("looking up %s: %v", name, status)
		}
		return out.NodeId
	}
	fs := lookup(lookup(lookup(fuse.FUSE_ROOT_ID, "w"), workspaces.Name(version)), "fs")
	for i := range 40 {
		dir := fmt.Sprintf("d%02d", i)
		if nodes := listPlus(t, f, lookup(fs, dir)); nodes["file"] == 0 {
			t.Errorf("%s: file has no attributes; the listing has %v", dir, nodes)
		}
	}
}

// listPlus lists a directory with READDIRPLUS, and returns the node ids of its entries
// by name; 0 for entries without attributes.
func listPlus(t *testing.T, f *workspaces.FS, dir uint64) map[string]uint64 {
	t.Helper()
	buf := make([]byte, 4096)
	list := fuse.NewDirEntryList(buf, 0)
	in := &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: dir}}
	if status := f.ReadDirPlus(nil, in, list); !status.Ok() {
		t.Fatalf("listing node %d: %v", dir, status)
	}
	// Each entry is an entry_out of 128 bytes, a dirent of 24 with the length of the
	// name at 16, and the name, padded to 8 bytes.
	nodes := map[string]uint64{}
	for len(buf) >= 152 {
		length := int(binary.NativeEndian.Uint32(buf[144:]))
		if length == 0 {
			break
		}
		nodes[string(buf[152:152+length])] = binary.NativeEndian.Uint64(buf)
		buf = buf[152+(length+7)/8*8:]
	}
	return nodes
}
