package dockersandbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// largeImage has 6,400 files of 20 kB: 128 MB.
func largeImage(b *testing.B) string {
	b.Helper()
	const name = "domarkx-test:large"
	random := rand.NewChaCha8([32]byte{})
	files := map[string][]byte{}
	for i := range 6400 {
		data := make([]byte, 20_000)
		if _, err := random.Read(data); err != nil {
			b.Fatal(err)
		}
		files[fmt.Sprintf("usr/%02d/%04d", i%64, i)] = data
	}
	if err := dockertest.Load(context.Background(), "", name, files); err != nil {
		b.Fatal(err)
	}
	return name
}

// BenchmarkContainer measures each operation on a container of 128 MB, in milliseconds.
func BenchmarkContainer(b *testing.B) {
	env := domarkx.Env{Workspace: "w", Resource: "r", Config: value(b, `{"image": "`+largeImage(b)+`"}`), Dir: b.TempDir(), Warn: func(string) {}}
	ctx := context.Background()
	var live domarkx.Resource
	took := func(what string, f func() error) {
		b.Helper()
		began := time.Now()
		if err := f(); err != nil {
			b.Fatalf("%s: %v", what, err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, what)
	}
	open := func() (err error) { live, err = dockersandbox.New().Open(ctx, env); return err }
	run := func(command string) func() error {
		return func() error {
			_, err := live.Execute(ctx, domarkx.Call{Tool: "run_command",
				Arguments: jsonvalue.ObjectValue(jsonvalue.Member{Name: "command", Value: jsonvalue.StringValue(command)})})
			return err
		}
	}
	m := plugintest.NewMemory()
	version := ""
	commit := func() error {
		p, err := m.Begin(ctx, version)
		if err != nil {
			return err
		}
		if err := live.Commit(ctx, p); err != nil {
			return err
		}
		version, err = p.Finish(ctx)
		return err
	}
	for b.Loop() {
		took("create-ms", open)
		took("first-call-ms", run("true"))
		took("call-ms", run("true"))
		took("commit-none-ms", commit)
		took("change-10-ms", run("for i in 0 1 2 3 4 5 6 7 8 9; do echo $i > /usr/0$i/new; done"))
		took("commit-10-ms", commit)
		ten := version
		took("change-1000-ms", run("for i in 0 1 2 3 4 5 6 7 8 9; do for f in /usr/0$i/*; do echo x >> $f; done; done"))
		took("commit-1000-ms", commit)
		took("touch-all-ms", run("touch /usr/3?/*"))
		took("commit-touched-ms", commit)
		took("load-10-ms", func() error { return live.Load(ctx, m, ten) })
		took("close-ms", func() error { return live.Close(ctx) })
		took("open-ms", open)
		took("restart-ms", run("true"))
		took("tear-down-ms", func() error { return live.TearDown(ctx) })
	}
}
