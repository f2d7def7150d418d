package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionText(t *testing.T) {
	platform := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	built := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for _, test := range []struct {
		release, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"", "", nil, "(devel)"},
		{"", "", built("v1.2.3"), "v1.2.3"},
		{"v2.0.0", "abcdef", built("(devel)"), "v2.0.0 (abcdef)"},
		{"", "", built("", "vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "(devel) (0123456789ab+changes)"},
		{"v2.0.0", "abcdef", built("", "vcs.revision", "0123456789abcdef"), "v2.0.0 (abcdef)"},
	} {
		if got := versionText(test.release, test.commit, test.info); got != test.want+platform {
			t.Errorf("got %q, expected %q", got, test.want+platform)
		}
	}
}
