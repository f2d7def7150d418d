// Package all is the registry of resource types: the built-in ones and the plugin programs on
// PATH.
package all

import (
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
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

// Found returns the plugin programs on PATH. It ignores those in the excepted directories, such as
// the user's work tree. Reading the directories of PATH takes milliseconds.
func Found(except ...string) []domarkx.Plugin { return external.Find(os.Getenv("PATH"), except...) }

// BuiltIn returns the plugins that are part of this program.
func BuiltIn() []domarkx.Plugin {
	return []domarkx.Plugin{filesystem.New(), localshell.New(), gitrepository.New(), dockersandbox.New(), sqlite.New(), postgres.New(), openpocket.New(), mcp.New()}
}
