//go:build linux

package localshell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestConformance(t *testing.T) {
	config := jsonvalue.ObjectValue().With("env", jsonvalue.ObjectValue().With("GREETING", jsonvalue.StringValue("hi")))
	plugintest.Run(t, plugintest.Suite{
		Plugin:   localshell.New(),
		ReadOnly: []string{"read_file", "list_dir", "search"},
		Config:   config,
		Changes: []domarkx.Call{
			call("run_command", "command", "echo $GREETING > a; mkdir -m 700 d; ln -s a l; ln a d/hard; (setsid sleep 1000 &)"),
			call("write_file", "path", "b", "content", "text"),
			call("run_command", "command", "rm a; mkfifo p; chmod 600 b"),
		},
		Read: call("run_command", "command", "true"),
		Refused: map[string]domarkx.Call{
			domarkx.CodeNotFound: call("read_file", "path", "none"),
		},
		Invalid: []jsonvalue.Value{config.With("env", jsonvalue.StringValue("x"))},
		Alive: func(dir string) bool {
			links, err := filepath.Glob("/proc/[0-9]*/cwd")
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
					return true
				}
			}
			return false
		},
		Costly: 3,
	})
}
