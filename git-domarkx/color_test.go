package main

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
)

// repository creates an empty repository and changes into it.
func repository(t *testing.T, config ...string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Chdir(dir)
	git(t, "init", "-q")
	for i := 0; i < len(config); i += 2 {
		git(t, "config", config[i], config[i+1])
	}
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestWantsColor(t *testing.T) {
	for name, test := range map[string]struct {
		option string
		env    map[string]string
		config []string
		tty    bool
		want   bool
	}{
		"terminal":                {"auto", nil, nil, true, true},
		"no terminal":             {"auto", nil, nil, false, false},
		"option beats all":        {"always", map[string]string{"NO_COLOR": "1"}, []string{"color.ui", "never"}, false, true},
		"never":                   {"never", nil, []string{"color.ui", "always"}, true, false},
		"NO_COLOR":                {"auto", map[string]string{"NO_COLOR": "1"}, []string{"color.ui", "always"}, true, false},
		"dumb terminal":           {"auto", map[string]string{"TERM": "dumb"}, nil, true, false},
		"color.ui off":            {"auto", nil, []string{"color.ui", "false"}, true, false},
		"color.ui always":         {"auto", nil, []string{"color.ui", "always"}, false, true},
		"color.domarkx beats ui":  {"auto", nil, []string{"color.ui", "always", "color.domarkx", "never"}, true, false},
		"color.domarkx is auto":   {"auto", nil, []string{"color.domarkx", "auto"}, false, false},
		"color.ui true means tty": {"auto", nil, []string{"color.ui", "true"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			repository(t, test.config...)
			var b bytes.Buffer
			inv := newInvocation(context.Background(), func(name string) string { return test.env[name] },
				stdio{nil, &b, &b}, &globals{Color: test.option}, nil)
			inv.out.tty = test.tty
			if got := inv.wantsColor(); got != test.want {
				t.Errorf("colour %t, expected %t", got, test.want)
			}
		})
	}
}
