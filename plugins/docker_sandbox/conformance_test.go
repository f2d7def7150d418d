package dockersandbox_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestConformance(t *testing.T) {
	run := func(command string) domarkx.Call {
		return domarkx.Call{Tool: "run_command", Arguments: jsonvalue.ObjectValue(jsonvalue.Member{Name: "command", Value: jsonvalue.StringValue(command)})}
	}
	plugintest.Run(t, plugintest.Suite{
		Plugin: dockersandbox.New(),
		Config: value(t, plainConfig),
		Changes: []domarkx.Call{
			run("echo one > /data/one; sleep 1000 &"), run("rm -r /data/gone"), run("rm -r /data; mkfifo /data"),
			run("rm /data; mkdir /data; echo 1 > /data/one; echo 3 > /data/three; ln /data/one /two; chown 7 /data/one"),
		},
		Read:    run("ls /data"),
		Refused: map[string]domarkx.Call{domarkx.CodeInvalid: run("a\x00b")},
		Invalid: []jsonvalue.Value{value(t, `{}`), value(t, `{"image": 1}`), value(t, `{"image": "`+dockertest.Image+`", "volumes": []}`)},
		Costly:  5,
		Alive: func(dir string) bool {
			running := docker(t, "ps", "--filter", "label=org.domarkx.dir", "--format", `{{.Label "org.domarkx.dir"}}`)
			return strings.Contains("\n"+running, "\n"+dir)
		},
	})
}
