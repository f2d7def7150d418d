package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// invoke runs a command line in this process.
func invoke(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, os.Getenv, stdio{strings.NewReader(stdin), &out, &errs})
	return status, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		status int
		stdout string // prefix of stdout
		stderr string
	}{
		"nothing":          {nil, 129, "usage: git domarkx ", ""},
		"-h":               {[]string{"-h"}, 129, "usage: git domarkx ", ""},
		"command -h":       {[]string{"log", "-h"}, 129, "usage: git domarkx log ", ""},
		"--help":           {[]string{"log", "--help"}, 0, "NAME\n    git domarkx log - ", ""},
		"help":             {[]string{"help"}, 0, "NAME\n    git domarkx - ", ""},
		"help command":     {[]string{"help", "rm"}, 0, "NAME\n    git domarkx rm - ", ""},
		"words missing":    {[]string{"exec", "talk"}, 129, "", "git-domarkx: missing RESOURCE and TOOL, or -- and a command\nusage: git domarkx exec [--yes] [--exit-code] [--args JSON] NAME [RESOURCE] [TOOL] [KEY=VALUE...]\nSee 'git domarkx help exec'.\n"},
		"help on nothing":  {[]string{"help", "fly"}, 129, "", "git-domarkx: \"fly\" is not a command\nSee 'git domarkx help'.\n"},
		"workspace":        {[]string{"workspace"}, 129, "usage: git domarkx workspace COMMAND [ARGUMENT...]\n", ""},
		"plugin":           {[]string{"plugin"}, 129, "usage: git domarkx plugin COMMAND [ARGUMENT...]\n", ""},
		"zeus":             {[]string{"zeus"}, 129, "usage: git domarkx zeus COMMAND [ARGUMENT...]\n", ""},
		"only an option":   {[]string{"-q"}, 129, "usage: git domarkx ", ""},
		"ls is not rm":     {[]string{"ls"}, 129, "", "git-domarkx: \"ls\" is not a command; use \"list\"\nSee 'git domarkx help'.\n"},
		"like nothing":     {[]string{"xyzzy"}, 129, "", "git-domarkx: \"xyzzy\" is not a command\nSee 'git domarkx help'.\n"},
		"unknown of group": {[]string{"workspace", "lst"}, 129, "", "git-domarkx: \"workspace lst\" is not a command; did you mean \"workspace list\"?\nusage: git domarkx workspace COMMAND [ARGUMENT...]\nSee 'git domarkx help workspace'.\n"},
		"help on group":    {[]string{"help", "workspace", "delete"}, 129, "", "git-domarkx: \"workspace delete\" is not a command\nusage: git domarkx workspace COMMAND [ARGUMENT...]\nSee 'git domarkx help workspace'.\n"},
		"unknown letter":   {[]string{"-2"}, 129, "", "git-domarkx: unknown flag -2\nSee 'git domarkx help'.\n"},
		"unknown command":  {[]string{"improt"}, 129, "", "git-domarkx: \"improt\" is not a command; did you mean \"import\"?\nSee 'git domarkx help'.\n"},
		"unknown option":   {[]string{"rm", "--quickly", "a"}, 129, "", "git-domarkx: unknown flag --quickly\nusage: git domarkx rm [--json] [--force] NAME...\nSee 'git domarkx help rm'.\n"},
		"argument missing": {[]string{"rename", "a"}, 129, "", "git-domarkx: missing B\nusage: git domarkx rename [--json] A B\nSee 'git domarkx help rename'.\n"},
		"argument over":    {[]string{"rename", "a", "b", "c"}, 129, "", "git-domarkx: unexpected argument \"c\"\nusage: git domarkx rename [--json] A B\nSee 'git domarkx help rename'.\n"},
		"bad choice":       {[]string{"completion", "tcsh"}, 129, "", "git-domarkx: SHELL must be one of \"bash\",\"zsh\",\"fish\" but got \"tcsh\"\nusage: git domarkx completion SHELL\nSee 'git domarkx help completion'.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := invoke(t, "", test.args...)
			if status != test.status {
				t.Errorf("status %d, expected %d", status, test.status)
			}
			if !strings.HasPrefix(stdout, test.stdout) || test.stdout == "" && stdout != "" {
				t.Errorf("stdout %q, expected %q", stdout, test.stdout)
			}
			if stderr != test.stderr {
				t.Errorf("stderr %q, expected %q", stderr, test.stderr)
			}
		})
	}
}

func TestManualPagesAreWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if status, _, stderr := invoke(t, "", "man", "--write", dir); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "git-domarkx*.1"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(allPages(model(t).Node)); len(pages) != want {
		t.Errorf("%d pages, expected %d", len(pages), want)
	}
	_, stdout, _ := invoke(t, "", "man", "log")
	written, err := os.ReadFile(filepath.Join(dir, "git-domarkx-log.1"))
	if err != nil {
		t.Fatal(err)
	}
	if stdout != string(written) {
		t.Error("man log prints another page than man --write writes")
	}
}
