package plugins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// fake is a plugin whose resource stores one text, in a file in its directory.
type fake struct {
	hang  chan struct{} // the tool "hang" waits until it is closed
	allow domarkx.Allow // permissions of the resource that was opened last
	// refuses is the id of a version that its resources refuse to load.
	refuses string
	says    string // message of its tools "fail", "refuse" and "warn"
}

func (*fake) Type() string { return "fake" }

func (*fake) Describe(context.Context) (domarkx.Description, error) {
	object := func(properties string) jsonvalue.Value {
		v, err := jsonvalue.ParseValue([]byte(`{"type": "object", "properties": {` + properties + `}, "additionalProperties": false}`))
		if err != nil {
			panic(err)
		}
		return v
	}
	return domarkx.Description{
		Source: "test", Config: object(`"path": {"type": "string"}, "token": {"type": "string", "minLength": 1}, "n": {"type": "integer"}`),
		Tools: []domarkx.Tool{
			{Name: "set", Description: "sets the text", Schema: object(`"text": {"type": "string"}`)},
			{Name: "get", Description: "returns the text", Schema: object("")},
			{Name: "token", Description: "returns the config's token", Schema: object("")},
			{Name: "panic", Description: "panics", Schema: object("")},
			{Name: "wait", Description: "waits for the end", Schema: object(`"timeout": {"type": "number"}`)},
			{Name: "fail", Description: "fails", Schema: object("")},
			{Name: "refuse", Description: "refuses", Schema: object("")},
			{Name: "warn", Description: "warns", Schema: object("")},
			{Name: "hang", Description: "does not end", Schema: object("")},
		},
		Languages: []string{"text"},
	}, nil
}

func (p *fake) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	p.allow = env.Allow
	r := &fakeResource{p: p, env: env, file: filepath.Join(env.Dir, "text")}
	if path, ok := env.Config.Get("path"); ok && !env.Private {
		r.file = filepath.Join(env.WorkTree, path.Text())
	}
	if token, _ := env.Config.Get("token"); token.Text() == "broken" {
		return nil, errors.New("broken token")
	}
	return r, nil
}

type fakeResource struct {
	p    *fake
	env  domarkx.Env
	file string
}

func (r *fakeResource) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	switch call.Tool {
	case "set":
		text, _ := call.Arguments.Get("text")
		return domarkx.Result{}, os.WriteFile(r.file, []byte(text.Text()), 0o600)
	case "get":
		data, _ := os.ReadFile(r.file)
		return domarkx.Result{Value: jsonvalue.StringValue(string(data))}, nil
	case "token":
		v, _ := r.env.Config.Get("token")
		return domarkx.Result{Value: v}, nil
	case "fail":
		return domarkx.Result{}, errors.New(r.p.says)
	case "refuse":
		return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeRefused, Message: r.p.says}
	case "warn":
		r.env.Warn(r.p.says)
		return domarkx.Result{}, nil
	case "wait":
		<-ctx.Done()
		return domarkx.Result{}, ctx.Err()
	case "hang":
		<-r.p.hang
		return domarkx.Result{}, nil
	}
	panic("as requested")
}

func (r *fakeResource) Run(ctx context.Context, _, code string) (domarkx.Result, error) {
	return r.Execute(ctx, domarkx.Call{Tool: "set", Arguments: jsonvalue.ObjectValue().With("text", jsonvalue.StringValue(code))})
}

func (r *fakeResource) Changed(context.Context) (bool, error) {
	now, _ := os.ReadFile(r.file)
	then, err := os.ReadFile(filepath.Join(r.env.Dir, "committed"))
	return err != nil || string(now) != string(then), nil
}

func (r *fakeResource) committed(data []byte) error {
	return os.WriteFile(filepath.Join(r.env.Dir, "committed"), data, 0o600)
}

func (r *fakeResource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	data, _ := os.ReadFile(r.file)
	if string(data) == "slow" {
		<-ctx.Done()
		return ctx.Err()
	}
	id, size, err := w.Content(ctx, strings.NewReader(string(data)))
	if err == nil {
		err = w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755})
	}
	if err == nil {
		err = w.Add(ctx, "text", domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
	}
	if err == nil {
		err = r.committed(data)
	}
	return err
}

func (r *fakeResource) Load(ctx context.Context, v domarkx.VersionReader, version string) error {
	if err := os.WriteFile(r.file, []byte("half loaded"), 0o600); err != nil {
		return err
	}
	top, err := v.Top(ctx, version)
	if err != nil {
		return err
	}
	files, err := v.Directory(ctx, top.ID)
	if err != nil {
		return err
	}
	c, err := v.Content(ctx, files[0].ID)
	if err != nil {
		return err
	}
	defer c.Close()
	data := make([]byte, c.Size())
	if n, err := c.ReadAt(data, 0); n < len(data) {
		return err
	}
	if err := os.WriteFile(r.file, data, 0o600); err != nil {
		return err
	}
	return r.committed(data)
}

func (r *fakeResource) CheckLoad(_ context.Context, _ domarkx.VersionReader, _, version string) error {
	if version == r.p.refuses {
		return domarkx.ErrInvalid
	}
	return nil
}

func (r *fakeResource) Close(context.Context) error { return nil }

func (r *fakeResource) TearDown(context.Context) error {
	return os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(r.env.Dir))), "torn-"+r.env.Resource), nil, 0o600)
}

// world is a machine with a manager of workspaces.
type world struct {
	t      *testing.T
	dir    string
	config plugins.Config
	p      *fake
	store  *plugintest.Memory
	m      *plugins.WorkspaceManager
	warns  []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), p: &fake{hang: make(chan struct{})}, store: plugintest.NewMemory()}
	w.config = plugins.Config{
		Dir: filepath.Join(w.dir, "workspaces"), WorkTree: t.TempDir(), Warn: func(m string) { w.warns = append(w.warns, m) },
		Env: func(name string) (string, bool) { return "secret of " + name, name == "TOKEN" },
	}
	w.renew(w.store)
	return w
}

// renew replaces the manager by a new one on the same directory, as in another process.
func (w *world) renew(store plugins.Versions) {
	w.m = plugins.New([]domarkx.Plugin{w.p}, store, w.config)
}

func spec(t *testing.T, id, config string) domarkx.ResourceSpec {
	t.Helper()
	return domarkx.ResourceSpec{ID: id, Type: "fake", Config: parse(t, config)}
}

func parse(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An opening is how a test opens a workspace. Without specs, those of the version are opened, and without a version those that are
// live.
type opening struct {
	Specs                                []domarkx.ResourceSpec
	Tip                                  *domarkx.Version
	Private, Temporary, Existing, NoWait bool
	Keep                                 func(context.Context, *plugins.Changes) error
	Timeout                              time.Duration
}

// try opens a workspace.
func (w *world) try(ctx context.Context, name string, o opening) (*plugins.Live, error) {
	in := permit.Shared
	switch {
	case o.Temporary:
		in = permit.Temporary
	case o.Private:
		in = permit.Private
	}
	p := plugintest.MayOpen(name, o.Specs)
	if o.Tip != nil {
		p = plugintest.MayLoad(name, *o.Tip, in, o.Specs...)
	}
	return w.m.Open(ctx, p, plugins.Options{Tip: o.Tip, NoWait: o.NoWait, Keep: o.Keep, Timeout: o.Timeout})
}

func (w *world) open(name string, o opening) *plugins.Live {
	w.t.Helper()
	l, err := w.try(w.t.Context(), name, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close(context.Background()) })
	return l
}

func (w *world) set(l *plugins.Live, id, text string) {
	w.t.Helper()
	_, err := l.Call(w.t.Context(), plugintest.MayCall(l.Name(), id, domarkx.Call{Tool: "set", Arguments: jsonvalue.ObjectValue().With("text", jsonvalue.StringValue(text))}))
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(l *plugins.Live, id string) string {
	w.t.Helper()
	r, err := l.Call(w.t.Context(), plugintest.MayCall(l.Name(), id, domarkx.Call{Tool: "get", Arguments: jsonvalue.ObjectValue()}))
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Value.Text()
}

// commit commits the live state as the workspace version with that id.
func (w *world) commit(l *plugins.Live, id string) domarkx.Version {
	w.t.Helper()
	c, err := l.Commit(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	v := domarkx.Version{ID: id, Resources: c.Resources, Parents: []string{l.Head()}}
	if err := errors.Join(l.Committed(w.t.Context(), v), c.Settle()); err != nil {
		w.t.Fatal(err)
	}
	return v
}

// may returns a permit to load a version with all of its resources.
func may(l *plugins.Live, v domarkx.Version) permit.Permit {
	return plugintest.MayLoad(l.Name(), v, permit.Shared)
}
