package hooks_test

import (
	"strings"
	"testing"
)

// TestUninstallAfterEdit checks that uninstalling removes everything that was installed, also if the user edited the settings
// before the server was installed as well.
func TestUninstallAfterEdit(t *testing.T) {
	a := agent(t, "gemini")
	u := newUser(t, t.TempDir())
	u.install(t, a, "", false)
	edited := strings.Replace(u.read(t, ".gemini/settings.json"), "{", "{\"theirs\": 1, ", 1)
	u.write(t, ".gemini/settings.json", edited)
	u.install(t, a, "", true)
	u.uninstall(t, a)
	if after := u.read(t, ".gemini/settings.json"); strings.Contains(after, "domarkx") || !strings.Contains(after, "theirs") {
		t.Errorf("left behind: %s", after)
	}
}
