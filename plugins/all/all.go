// Package all is the registry of the types of resources that come with the
// program.
package all

import (
	"github.com/domarkx/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/filesystem"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"github.com/domarkx/domarkx/plugins/openpocket"
	"github.com/domarkx/domarkx/plugins/postgres"
	"github.com/domarkx/domarkx/plugins/sqlite"
)

// Types returns the built-in plugins.
func Types() []domarkx.Plugin {
	return []domarkx.Plugin{filesystem.New(), localshell.New(), dockersandbox.New(), sqlite.New(), postgres.New(), openpocket.New()}
}
