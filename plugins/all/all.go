// Package all is the registry of resource types: the built-in ones and the plugin programs on
// PATH.
package all

import (
	"os"
	"slices"

	"github.com/domarkx/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/external"
	"github.com/domarkx/domarkx/plugins/filesystem"
	gitrepository "github.com/domarkx/domarkx/plugins/git_repository"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"github.com/domarkx/domarkx/plugins/mcp"
	"github.com/domarkx/domarkx/plugins/openpocket"
	"github.com/domarkx/domarkx/plugins/postgres"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

// Types returns the plugins. It ignores programs in the excepted directories, such as the user's
// work tree, and programs for a built-in type.
func Types(except ...string) []domarkx.Plugin {
	types := builtIn()
	for _, p := range external.Find(os.Getenv("PATH"), except...) {
		if !slices.ContainsFunc(types, func(t domarkx.Plugin) bool { return t.Type() == p.Type() }) {
			types = append(types, p)
		}
	}
	return types
}

func builtIn() []domarkx.Plugin {
	return []domarkx.Plugin{filesystem.New(), localshell.New(), gitrepository.New(), dockersandbox.New(), sqlite.New(), postgres.New(), openpocket.New(), mcp.New()}
}
