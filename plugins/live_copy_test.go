package plugins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// killed saves the state of an instance on disk while a path is being copied, as a killed process
// would leave it.
type killed struct {
	fake
	at string
}

func (k *killed) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	if strings.HasSuffix(env.Dir, "-copy") && k.at != "" {
		if err := os.CopyFS(k.at, os.DirFS(filepath.Dir(env.Dir))); err != nil {
			return nil, err
		}
		k.at = ""
	}
	return k.fake.Open(ctx, env)
}

func TestKilledCopy(t *testing.T) {
	w := newWorld(t)
	specs := []domarkx.ResourceSpec{spec(t, "a", `{"path": "data"}`)}
	w.set(w.open("s", opening{Specs: specs}), "a", "there")
	at := filepath.Join(w.dir, "killed")
	w.m = plugins.New([]domarkx.Plugin{&killed{at: at}}, w.store, w.config)
	if err := w.open("t", opening{Specs: specs}).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.config.Dir, "t")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(at, dir)); err != nil {
		t.Fatal(err)
	}
	w.renew(w.store)
	if got := w.get(w.open("t", opening{Specs: specs}), "a"); got != "there" {
		t.Errorf("the copy holds %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*-copy")); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}
