package mountpoint_test

import (
	"slices"
	"testing"

	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

func TestMountinfo(t *testing.T) {
	const table = `23 28 0:22 / /proc rw,relatime shared:13 - proc proc rw
99 28 0:55 / /a\040b\134c rw,nosuid - fuse.domarkx /repo\040x rw,user_id=0
100 28 0:56 / /x rw - fuse.domarkx
short
101 28 0:57 /a\040b//deleted /y\999 rw shared:1 master:2 - ext4 none rw
`
	want := []mountpoint.Mount{
		{Dir: "/proc", Kind: "proc", Source: "proc", Device: "0:22"},
		{Dir: `/a b\c`, Kind: "fuse.domarkx", Source: "/repo x", Device: "0:55"},
		{Dir: `/y\999`, Kind: "ext4", Source: "none", Device: "0:57"},
	}
	if got := mountpoint.Parse([]byte(table)); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzMountinfo(f *testing.F) {
	f.Add([]byte("99 28 0:55 / /a\\040b rw - fuse.x src rw\n"))
	f.Add([]byte(" - \n\\4"))
	f.Fuzz(func(t *testing.T, table []byte) { mountpoint.Parse(table) })
}
