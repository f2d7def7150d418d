package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/permit"
)

// ListedTools are the tools that a resource lists itself (see [domarkx.ToolLister]). Trust in them belongs to the config of
// the resource: the first list of a trusted session is trusted with it, and every other list has to be trusted on its own. A
// server lists its tools only when it runs, and running it needs trust already: to start it in order to show its list would
// run what nobody has trusted.
type ListedTools struct {
	config Digest // digest of the resource's type and config
	digest Digest // digest of the config and the tools
	id     string // id of the resource
	names  []string
	runs   Runs
}

// ListTools returns the tools that a resource with a spec lists.
func ListTools(spec domarkx.ResourceSpec, tools []domarkx.Tool) ListedTools {
	t := ListedTools{config: configDigest(spec), id: spec.ID}
	var parts []string
	var text strings.Builder
	for _, tool := range tools {
		t.names = append(t.names, tool.Name)
		parts = append(parts, tool.Name, tool.Description, tool.Schema.JSON())
		line := jsonvalue.ObjectOf("name", tool.Name, "description", tool.Description, "inputSchema", tool.Schema)
		text.WriteString(line.JSON() + "\n") // JSON, so that different lists have different digests
	}
	t.digest = t.config.with("tools", parts...)
	t.runs = toolsListing(spec, text.String())
	return t
}

func toolsListing(spec domarkx.ResourceSpec, text string) Runs {
	return Runs{"resource " + spec.ID, "tools", text}
}

// configDigest identifies the type and config of a resource, whatever its id.
func configDigest(spec domarkx.ResourceSpec) Digest {
	return Digest{}.with("config", spec.Type, spec.Config.Without("id").JSON())
}

// Tools is the act of using the tools that a resource lists. Its permit is for nothing else.
type Tools struct {
	By     permit.Permit // of the session with the resource
	Listed ListedTools
}

func (a Tools) permitted(ctx context.Context, d *decision) (permission, error) {
	d.right = a.By.Right()
	return permission{session: a.By.Session()}, d.tools(ctx, a.By.Session(), a.Listed)
}

// tools requires the right to use the tools that a resource lists. That to the session was found before.
func (d *decision) tools(ctx context.Context, session string, t ListedTools) error {
	if by := d.approved[t.digest]; by != permit.None {
		d.right = max(d.right, by)
		return nil
	}
	values, err := d.m.env.Local.All(ctx, local.ToolsKey)
	if err != nil {
		return err
	}
	known, trusted := t.among(values)
	if !known && d.last.right == permit.Trusted {
		if err := d.m.trustTools(ctx, session, t); err != nil {
			return err
		}
		if d.m.env.Warn != nil {
			d.m.env.Warn(t.first())
		}
	}
	if !known || trusted { // an approval of the session covers tools that were never listed
		d.approved[t.digest] = max(d.last.right, permit.Trusted)
	}
	return d.need(ctx, t.digest, trusted, func() (*UntrustedError, error) {
		return &UntrustedError{Session: session, Resource: t.id, Listing: []Runs{t.runs}},
			local.Replace(d.m.seenToolsFile(t.config), []byte(t.digest.String()+"\n"+t.runs.Text))
	})
}

// first returns a warning that lists the tools of a resource which are trusted although nobody could see them before.
func (t ListedTools) first() error {
	const most = 20
	names, more := t.names, ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d others", len(t.names)-most)
	}
	return fmt.Errorf("resource %q lists its tools for the first time, and they are trusted with it: %s%s; what it says about them is in tools.json of its versions", t.id, strings.Join(names, ", "), more)
}

// among reports whether the values of [local.ToolsKey] contain the config, and whether they contain it with these tools.
func (t ListedTools) among(values []string) (known, trusted bool) {
	for _, value := range values {
		config, rest, _ := strings.Cut(value, " ")
		digest, _, _ := strings.Cut(rest, " ")
		known = known || config == t.config.String()
		trusted = trusted || digest == t.digest.String()
	}
	return known, trusted
}

// trustTools records that the user trusts the tools with this config. It keeps the newest lists of each config.
func (m *Manager) trustTools(ctx context.Context, session string, t ListedTools) error {
	prefix := t.config.String() + " "
	value := prefix + t.digest.String() + " " + session
	err := m.env.Local.Change(ctx, local.ToolsKey, func(values []string) []string {
		if slices.Contains(values, value) {
			return values
		}
		return newest(append(values, value), func(v string) bool { return strings.HasPrefix(v, prefix) })
	})
	if err != nil {
		return err
	}
	return atomicfile.Remove(m.seenToolsFile(t.config))
}

// seenToolsFile returns the path of the file with the tools that a resource listed when they were
// last refused, so that the user can look at them and trust them.
func (m *Manager) seenToolsFile(config Digest) string {
	return filepath.Join(m.env.StateDir, "tools", config.String())
}

// seenTools returns the tools that were refused for the resources of a session.
func (m *Manager) seenTools(ctx context.Context, info domarkx.Info) ([]ListedTools, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return nil, err
	}
	asked, err := m.unchecked(ctx, info.Name, h)
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, nil // an invalid document runs nothing
	}
	if err != nil {
		return nil, err
	}
	var all []ListedTools
	for _, spec := range asked.Specs {
		t := ListedTools{config: configDigest(spec)}
		data, err := os.ReadFile(m.seenToolsFile(t.config))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		digest, text, _ := strings.Cut(string(data), "\n")
		if t.digest.parse(digest) {
			t.runs = toolsListing(spec, text)
			all = append(all, t)
		}
	}
	return all, nil
}
