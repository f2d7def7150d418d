package plugins

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/schema"
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
	tools       map[string]func() (*schema.Schema, error)
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
		return fmt.Errorf("asking plugin %q what it offers: %w", k.plugin.Type(), err)
	}
	config, err := compile(d.Config)
	if err != nil {
		return fmt.Errorf("plugin %q, schema of its config: %w", k.plugin.Type(), err)
	}
	tools := make(map[string]func() (*schema.Schema, error), len(d.Tools))
	for _, t := range d.Tools { // compiled on demand, since a command calls few of them
		tools[t.Name] = sync.OnceValues(func() (*schema.Schema, error) {
			s, err := compile(t.Schema)
			if err != nil {
				return nil, fmt.Errorf("plugin %q, schema of its tool %q: %w", k.plugin.Type(), t.Name, err)
			}
			return s, nil
		})
	}
	k.description, k.config, k.tools, k.described = d, config, tools, true
	return nil
}

func compile(v domarkx.Value) (*schema.Schema, error) {
	if v.Kind() == domarkx.Null {
		return nil, nil
	}
	return schema.Compile(v.JSON())
}

// check returns the errors in v, without positions in a text; nil if v is valid.
func check(s *schema.Schema, v domarkx.Value) []*domarkx.SyntaxError {
	if s == nil {
		return nil
	}
	found := s.Check(v, nil)
	for _, e := range found {
		e.Line, e.Column = 0, 0
	}
	return found
}
