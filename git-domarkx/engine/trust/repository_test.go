package trust_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// plainConfig is a config as Git writes it.
const plainConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = ../x\n[branch \"a.b\"]\n\tremote = origin\n[core]\n"

func TestOddSetting(t *testing.T) {
	for config, want := range map[string]string{
		"": "", plainConfig: "", "; x\n# [include]\n[user]\r\n name=Ann\r\n": "", "[push] # y\n": "[push", "[]\n": "[", "\ufeff[core]\n": ".\ufeff[core]",
		"[Core]\nfsmonitor\n": "core.fsmonitor", "[core] fsmonitor = x\n": "[core", "[user]\nname = x \\\n[core]\n": "user.name", "path = x\n": ".path",
		"[remote]\nurl = x\n": "[remote", "[remote \"a\"]\nvcs = x\n": "remote.vcs", "[remote.a]\nurl = x\n": "[remote.a", "[core \"a\"]\n": "[core", "[branch \"a\\\"\"]\n": "[branch",
	} {
		if got := trust.OddSetting(config); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}
