package plugins

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/syntax"
)

// describeTimeout bounds how long a plugin may take to describe itself.
const describeTimeout = 30 * time.Second

// A resourceType is a plugin with its description, which is queried once.
type resourceType struct {
	plugin domarkx.Plugin
	grace  time.Duration

	mu          sync.Mutex
	described   bool
	description domarkx.Description
	config      *schema.Schema // nil accepts anything
	tools       toolSet
}

// A toolSet is a list of tools with their schemas, which are compiled on demand, since a
// command calls few of them.
type toolSet struct {
	list    []domarkx.Tool
	schemas map[string]func() (*schema.Schema, error)
}

func newToolSet(list []domarkx.Tool, compile func(domarkx.Tool) (*schema.Schema, error)) toolSet {
	schemas := make(map[string]func() (*schema.Schema, error), len(list))
	for _, t := range list {
		schemas[t.Name] = sync.OnceValues(func() (*schema.Schema, error) { return compile(t) })
	}
	return toolSet{list, schemas}
}

// describe queries the plugin's description, unless it did before.
func (k *resourceType) describe(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.described {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	d, err := guard(ctx, k.grace, nil, k.plugin.Describe)
	if err != nil {
		return fmt.Errorf("asking plugin %q for its description: %w", k.plugin.Type(), err)
	}
	config, err := compile(d.Config)
	if err != nil {
		return fmt.Errorf("plugin %q, schema of its config: %w", k.plugin.Type(), err)
	}
	k.description, k.config, k.described = d, config, true
	k.tools = newToolSet(d.Tools, func(t domarkx.Tool) (*schema.Schema, error) {
		s, err := compile(t.Schema)
		if err != nil {
			return nil, fmt.Errorf("plugin %q, schema of its tool %q: %w", k.plugin.Type(), t.Name, err)
		}
		return s, nil
	})
	return nil
}

func compile(v jsonvalue.Value) (*schema.Schema, error) {
	if v.Kind() == jsonvalue.Null {
		return nil, nil
	}
	return schema.Compile(v.JSON())
}

// check returns the errors in v, without positions in a text; nil if v is valid.
func check(s *schema.Schema, v jsonvalue.Value) []*syntax.Error {
	if s == nil {
		return nil
	}
	found := s.Check(v, nil)
	for _, e := range found {
		e.Line, e.Column = 0, 0
	}
	return found
}

// Begin starts a version of a resource that is not open, such as an imported one. base is an
// earlier version, "" for none.
func (m *WorkspaceManager) Begin(ctx context.Context, base string) (Pending, error) {
	return m.versions.Begin(ctx, base)
}

// CheckVersion lets the plugin of a resource validate a version, if it can. See
// [domarkx.VersionChecker].
func (m *WorkspaceManager) CheckVersion(ctx context.Context, r domarkx.ResourceVersion) error {
	for _, k := range m.types() {
		c, ok := k.plugin.(domarkx.VersionChecker)
		if !ok || k.plugin.Type() != r.Type {
			continue
		}
		_, err := guard(ctx, m.config.Grace, nil, nothing(func(ctx context.Context) error { return c.CheckVersion(ctx, m.versions, r.Version) }))
		return err
	}
	return nil
}
