package hooks_test

import (
	"strings"
	"testing"
)

func TestMovedProgram(t *testing.T) {
	a := agent(t, "copilot")
	u := newUser(t, t.TempDir())
	u.install(t, a, "", true)
	u.place.Program = "/usr/bin/git-domarkx"
	if !u.install(t, a, "", true) {
		t.Error("the new path was not installed")
	}
	for _, file := range []string{".copilot/hooks/domarkx.json", ".copilot/mcp-config.json"} {
		if text := u.read(t, file); strings.Contains(text, "/opt/") || !strings.Contains(text, "/usr/bin/git-domarkx") {
			t.Errorf("%s: %s", file, text)
		}
	}
	u.uninstall(t, a)
	if left := u.files(t); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOwnCommands checks that installing updates the commands that this program wrote, and keeps those in which the user
// does more.
func TestOwnCommands(t *testing.T) {
	for command, stays := range map[string]bool{
		"/old/git-domarkx agent hook qwen": false, "'/my old/git-domarkx' agent hook qwen": false, `'/it'\\''s/git-domarkx' agent hook qwen`: false,
		"git domarkx agent hook qwen 2>/dev/null || true": false,
		"timeout 1 /old/git-domarkx agent hook qwen":      true, "git-domarkx agent hook qwen; say done": true, "'say' x; '/old/git-domarkx' agent hook qwen": true,
	} {
		u := newUser(t, t.TempDir())
		u.write(t, ".qwen/settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "`+command+`"}]}]}}`)
		u.install(t, agent(t, "qwen"), "", false)
		if text := u.read(t, ".qwen/settings.json"); strings.Contains(text, `"`+command+`"`) != stays {
			t.Errorf("%s: %s", command, text)
		}
		if u.install(t, agent(t, "qwen"), "", false) {
			t.Errorf("%s: the second installation changed something", command)
		}
	}
}

// TestMovedProgramOfOthers checks that what the user added to the server stays when the program is elsewhere.
func TestMovedProgramOfOthers(t *testing.T) {
	for name, test := range map[string]struct{ file, text string }{
		"gemini":   {".gemini/settings.json", `{"mcpServers": {"domarkx": {"command": "/old/git-domarkx", "args": ["mcp", "--session", "team"], "trust": false}}}`},
		"opencode": {".config/opencode/opencode.json", `{"mcp": {"domarkx": {"type": "local", "command": ["/old/git-domarkx", "mcp", "--session", "team"], "enabled": false}}}`},
		"codex":    {".codex/config.toml", "[mcp_servers.domarkx]\r\ncommand= \"/old/git-domarkx\"\r\nargs = [\"mcp\", \"--session\", \"team\"]\r\nenabled = false\r\n[a]\r\ncommand = \"x\"\r\n"},
	} {
		u := newUser(t, t.TempDir())
		u.write(t, test.file, test.text)
		u.install(t, agent(t, name), "", true)
		text := u.read(t, test.file)
		for _, part := range []string{u.place.Program, `"--session"`, `"team"`, "false"} {
			if strings.Contains(text, "/old/") || !strings.Contains(text, part) {
				t.Errorf("%s: %s is not in %s", name, part, text)
			}
		}
		if u.install(t, agent(t, name), "", true) {
			t.Errorf("%s: the second installation changed something", name)
		}
	}
}

// TestTableOfServer checks that uninstalling removes the whole table of the server, also with blank lines, and nothing behind it.
func TestTableOfServer(t *testing.T) {
	u := newUser(t, t.TempDir())
	u.write(t, ".codex/config.toml", "a = 1\n[mcp_servers.domarkx]\n\n# mine\ncommand = \"/old/git-domarkx\"\n\n# yours\n[b]\ncommand = \"x\"\n")
	u.uninstall(t, agent(t, "codex"))
	if text := u.read(t, ".codex/config.toml"); text != "a = 1\n\n# yours\n[b]\ncommand = \"x\"\n" {
		t.Error(text)
	}
}
