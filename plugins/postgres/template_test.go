package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/postgres"
)

// A template is a resource whose server the resources of tests begin with, since copying it takes a
// tenth of the time in which PostgreSQL creates one.
type template struct {
	once sync.Once
	dir  string
	err  error
}

var common template

// plant gives a resource in dir a copy of the server.
func (p *template) plant(ctx context.Context, dir string) error {
	p.once.Do(func() { p.err = p.create(ctx) })
	if p.err != nil {
		return p.err
	}
	return postgres.Plant(ctx, dir, p.dir)
}

// create creates the server just as a user's is.
func (p *template) create(ctx context.Context) error {
	var err error
	if p.dir, err = os.MkdirTemp("", "postgres-template-"); err != nil {
		return err
	}
	live, err := p.open(ctx)
	if err != nil {
		return err
	}
	_, err = live.Execute(ctx, domarkx.Call{Tool: "schema", Arguments: jsonvalue.ObjectValue()})
	return errors.Join(err, live.Close(ctx))
}

func (p *template) open(ctx context.Context) (domarkx.Resource, error) {
	return postgres.New().Open(ctx, domarkx.Env{Dir: p.dir, Config: jsonvalue.ObjectValue(), Warn: func(string) {}})
}

func (p *template) remove() error {
	if p.dir == "" {
		return nil
	}
	ctx := context.Background()
	live, err := p.open(ctx)
	if err == nil {
		err = live.TearDown(ctx)
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// A sharedServer is a resource that several tests use, one after the other.
type sharedServer struct {
	dir   string
	live  domarkx.Resource
	store *plugintest.Memory
	empty string // the version of the new database
}

var shared sharedServer

// emptied returns the empty database of the shared resource, and its directory.
func emptied(t *testing.T) (*databasetest.DB, string) {
	t.Helper()
	if shared.live != nil {
		db := &databasetest.DB{T: t, Live: shared.live}
		db.Load(shared.store, shared.empty)
		return db, shared.dir
	}
	var err error
	if shared.dir, err = os.MkdirTemp("", "postgres-shared-"); err != nil {
		t.Fatal(err)
	}
	env := domarkx.Env{Workspace: "w", Resource: "postgres", Dir: shared.dir, Config: jsonvalue.ObjectValue(), Warn: func(string) {}}
	if shared.live, err = (planted{}).Open(context.Background(), env); err != nil {
		t.Fatal(err)
	}
	db := &databasetest.DB{T: t, Live: shared.live}
	shared.store = plugintest.NewMemory()
	shared.empty = db.Commit(shared.store)
	return db, shared.dir
}

// withRoles creates roles on the server of [emptied], which are removed at the end of the test.
func (s superuser) withRoles(names string) {
	s.t.Helper()
	s.does("CREATE ROLE " + strings.ReplaceAll(names, ", ", "; CREATE ROLE "))
	s.t.Cleanup(func() {
		emptied(s.t)
		s.does("DROP ROLE IF EXISTS " + names)
	})
}

func (s *sharedServer) remove() error {
	if s.live == nil {
		return nil
	}
	return errors.Join(s.live.TearDown(context.Background()), os.RemoveAll(s.dir))
}

// planted is the plugin, but new private servers are copies of a common one.
type planted struct{ postgres.Plugin }

func (p planted) Open(ctx context.Context, env domarkx.Env) (domarkx.Resource, error) {
	_, named := env.Config.Get("dsn")
	_, err := os.Lstat(filepath.Join(env.Dir, "server.json"))
	if errors.Is(err, fs.ErrNotExist) && (!named || env.Private) {
		if err := common.plant(ctx, env.Dir); err != nil {
			return nil, err
		}
	}
	return p.Plugin.Open(ctx, env)
}
