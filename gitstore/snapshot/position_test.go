package snapshot_test

import (
	"testing"

	"github.com/domarkx/domarkx/gitstore/snapshot"
)

func TestLeafPath(t *testing.T) {
	for k, want := range map[int]string{
		0: "conversation/0000/00/00", 15: "conversation/0000/00/00", 16: "conversation/0000/00/01", 511: "conversation/0000/00/31",
		512: "conversation/0000/01/00", 16383: "conversation/0000/31/31", 16384: "conversation/0001/00/00", 99999: "conversation/0006/03/09",
		16384 * 12345: "conversation/12345/00/00",
	} {
		if got := snapshot.LeafPath(k / 16); got != want {
			t.Errorf("message %d: %s, want %s", k, got, want)
		}
	}
}
