// Package all is the registry of the types of resources: those that come with the
// program, and the programs on PATH that are plugins.
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
	"github.com/domarkx/domarkx/plugins/openpocket"
	"github.com/domarkx/domarkx/plugins/postgres"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

// Types returns the plugins. Programs in the folders that are excepted, such as the
// user's work tree, are none; nor are those for a type that is built in.
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
	return []domarkx.Plugin{filesystem.New(), localshell.New(), gitrepository.New(), dockersandbox.New(), sqlite.New(), postgres.New(), openpocket.New()}
}
