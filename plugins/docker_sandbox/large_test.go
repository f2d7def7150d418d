package dockersandbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestLarge leaves files out of versions that are larger than the limit, such as a hole that would take hours to read.
func TestLarge(t *testing.T) {
	t.Parallel()
	s, m := open(t, plainConfig), plugintest.NewMemory()
	s.close()
	s.env.Limits.File = 1 << 20
	s.reopen()
	s.run("truncate -s 10995116277760 /data/huge && ln /data/huge /data/again && truncate -s 1M /data/full")
	files := list(t, m, s.commit(m))
	if strings.Contains(files, "huge") || strings.Contains(files, "again") || !strings.Contains(files, "full") {
		t.Errorf("the version has %s", files)
	}
	want := []domarkx.LeftOut{{Path: "data/again", Reason: "large"}, {Path: "data/huge", Reason: "large"}}
	if got := s.live.(domarkx.OutLister).LeftOut(); !slices.Equal(got, want) {
		t.Errorf("left out: %q", got)
	}
	if len(s.warnings) != 1 || !strings.Contains(s.warnings[0], "domarkx.limit.file") {
		t.Errorf("warned: %q", s.warnings)
	}
}
