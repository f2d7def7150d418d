package trust

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// resourcesAt is the JSON pointer to the resources of a document.
const resourcesAt = "/execution_config/workspace/resources"

// Resources holds the resources that a session asks for. They come from its document, or else from
// the repository's .domarkx.toml, or else from the newest version of its workspace. The file also
// supplies defaults for resources in the document.
type Resources struct {
	Specs  []domarkx.ResourceSpec
	Shared project.Config
	listed bool              // whether the file lists them, not the document
	engine bool              // whether the document names an engine
	own    []jsonvalue.Value // the configs without the defaults from the file
	Added  *Runs             // additions from outside the document; nil for none
}

// ResourcesOf returns the resources that a session with header h asks for. Errors in the document or
// in the file are of type *syntax.Error.
func (m *Manager) ResourcesOf(ctx context.Context, session string, h domarkx.Header) (a Resources, err error) {
	if a, err = ResourcesInDocument(h); err != nil {
		return a, InSession(session, err)
	}
	if a.Shared, err = project.Read(m.env.WorkTree); err != nil {
		return a, err
	}
	if len(a.Specs) == 0 && a.Shared.Resources != nil {
		if a.Specs, err = sharedSpecs(a.Shared); err != nil {
			return a, err
		}
		a.listed = true
	}
	a.Complete()
	if len(a.Specs) > 0 {
		return a, nil
	}
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, session)
	if err != nil {
		return a, err
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil || len(tip.Resources) == 0 {
		return a, err
	}
	return ResourcesInVersion(workspace, tip), nil
}

// ResourcesIn returns the valid resources that a session's calls need in a workspace, where tip is the newest
// version. In a workspace of another session, these are the resources of the workspace.
func (m *Manager) ResourcesIn(ctx context.Context, session, workspace string, h domarkx.Header, tip domarkx.Version) (Resources, error) {
	if workspace != session && tip.ID != "" {
		return ResourcesInVersion(workspace, tip), nil
	}
	asked, err := m.ResourcesOf(ctx, session, h)
	if err == nil {
		err = m.Check(ctx, session, asked)
	}
	return asked, err
}

// Asked returns the valid resources that the calls of a session need. info has no ID before the first message.
func (m *Manager) Asked(ctx context.Context, info domarkx.Info) (a Resources, err error) {
	h := domarkx.NewHeader()
	if info.ID != "" {
		if h, err = view.Header(ctx, m.store, info.ID); err != nil {
			return a, err
		}
	}
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, info.Name)
	if err != nil {
		return a, err
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil {
		return a, err
	}
	return m.ResourcesIn(ctx, info.Name, workspace, h, tip)
}

// ResourcesInDocument returns the resources in a document's header.
func ResourcesInDocument(h domarkx.Header) (Resources, error) {
	specs, err := documentSpecs(h)
	workspaceConfig, _ := h.ExecutionConfig.Get(configWorkspace)
	return Resources{Specs: specs, engine: len(specs) > 0 && workspaceConfig.Kind() == jsonvalue.Null}, err
}

// ResourcesInVersion returns the resources of a workspace, independent of any document.
func ResourcesInVersion(workspace string, tip domarkx.Version) Resources {
	specs := SpecsOf(tip.Resources)
	return Resources{Specs: specs, Added: &Runs{"workspace " + workspace, "resources", ConfigsText(specs)}}
}

// sharedSpecs returns the resources that the file lists.
func sharedSpecs(c project.Config) ([]domarkx.ResourceSpec, error) {
	specs, err := domarkx.ParseWorkspace(jsonvalue.ObjectOf("resources", jsonvalue.ArrayValue(c.Resources...)), "")
	if syntax, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, c.Error(syntax.Pointer, syntax.Msg, domarkx.ErrInvalid)
	}
	return specs, err
}

// Complete adds the defaults from the file to the configs, and records what came from the file.
func (a *Resources) Complete() {
	used := jsonvalue.ObjectValue()
	for i, spec := range a.Specs {
		a.own = append(a.own, spec.Config)
		defaults := a.Shared.Defaults(spec.Type)
		for _, m := range defaults.Members() {
			if _, ok := spec.Config.Get(m.Name); !ok {
				a.Specs[i].Config = a.Specs[i].Config.With(m.Name, m.Value)
				used = used.With(spec.Type, defaults)
			}
		}
	}
	switch {
	case a.listed:
		a.Added = &Runs{project.File, "resources", ConfigsText(a.Specs)}
	case len(used.Members()) > 0:
		a.Added = &Runs{project.File, "plugins", string(used.AppendJSON(nil, "", "  "))}
	}
}

// ConfigsText returns the configs of resources as they are listed to the user.
func ConfigsText(specs []domarkx.ResourceSpec) string {
	configs := make([]jsonvalue.Value, len(specs))
	for i, spec := range specs {
		configs[i] = spec.Config
	}
	return string(jsonvalue.ArrayValue(configs...).AppendJSON(nil, "", "  "))
}

// At adds to an error about a resource its location in the session's document or in .domarkx.toml.
func (a *Resources) At(session string, err error) error {
	var syntax *syntax.Error
	if !errors.As(err, &syntax) {
		return err
	}
	rest, ok := strings.CutPrefix(syntax.Pointer, resourcesAt+"/")
	index, key, _ := strings.Cut(rest, "/")
	i, notNumber := strconv.Atoi(index)
	if !ok || notNumber != nil || i >= len(a.own) {
		return InSession(session, err)
	}
	name := jsonvalue.PointerTokens("/" + key)[0]
	_, own := a.own[i].Get(name)
	_, completed := a.Specs[i].Config.Get(name)
	switch {
	case !own && completed:
		return a.Shared.Error("/plugins/"+project.Escape(a.Specs[i].Type)+"/"+key, syntax.Msg, syntax.Err)
	case a.listed:
		return a.Shared.Error(strings.TrimSuffix("/resources/"+index+"/"+key, "/"), syntax.Msg, syntax.Err)
	case a.engine:
		e := *syntax
		e.Pointer = "/execution_config/" + configEngine
		if name == configImage {
			e.Pointer = "/execution_config/" + key
		}
		err = &e
	}
	return InSession(session, err)
}

// Check validates the requested resources with their plugins.
func (m *Manager) Check(ctx context.Context, session string, a Resources) error {
	if err := m.checkDefaults(ctx, a.Shared); err != nil {
		return err
	}
	if len(a.Specs) == 0 {
		return nil
	}
	return a.At(session, m.env.Workspaces.Check(ctx, a.Specs))
}

// checkAdded validates the file's additions to a session with the plugins. The first call reports
// errors in the document itself.
func (m *Manager) checkAdded(ctx context.Context, info domarkx.Info) error {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return err
	}
	if _, err := documentSpecs(h); err != nil {
		return m.ReadProject()
	}
	asked, err := m.ResourcesOf(ctx, info.Name, h)
	if err != nil {
		return err
	}
	if !asked.listed {
		return m.checkDefaults(ctx, asked.Shared)
	}
	return m.Check(ctx, info.Name, asked)
}

// checkDefaults validates the defaults in the file with the plugins.
func (m *Manager) checkDefaults(ctx context.Context, c project.Config) error {
	for _, d := range c.Plugins {
		err := m.env.Workspaces.CheckDefaults(ctx, d.Type, d.Config)
		if syntax, ok := errors.AsType[*syntax.Error](err); ok {
			return c.Error("/plugins/"+project.Escape(d.Type)+syntax.Pointer, syntax.Msg, syntax.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckProject validates the repository's .domarkx.toml. Its errors are of type *syntax.Error.
func (m *Manager) CheckProject(ctx context.Context) error {
	a := Resources{listed: true}
	var err error
	if a.Shared, err = project.Read(m.env.WorkTree); err != nil {
		return err
	}
	if a.Shared.Resources != nil {
		if a.Specs, err = sharedSpecs(a.Shared); err != nil {
			return err
		}
	}
	a.Complete()
	return m.Check(ctx, project.File, a)
}

// ReadProject validates .domarkx.toml without starting plugins, which may be programs.
func (m *Manager) ReadProject() error {
	c, err := project.Read(m.env.WorkTree)
	if err == nil && c.Resources != nil {
		_, err = sharedSpecs(c)
	}
	return err
}

// ProjectModels returns what .domarkx.toml says about models, as members of an object.
func (m *Manager) ProjectModels() (jsonvalue.Value, error) {
	c, err := project.Read(m.env.WorkTree)
	return jsonvalue.ObjectValue(c.Models...), err
}

// AddedTo returns the things that a session can run in addition to its document, or nil for none. If .domarkx.toml is
// invalid, it returns the error text as an addition, which nobody has trusted.
func (m *Manager) AddedTo(ctx context.Context, session string, h domarkx.Header) (*Runs, error) {
	if _, err := documentSpecs(h); err != nil {
		return nil, nil // an invalid document runs nothing
	}
	if err := m.ReadProject(); err != nil {
		return &Runs{project.File, "error", err.Error()}, nil
	}
	a, err := m.unchecked(ctx, session, h)
	return a.Added, err
}

// unchecked returns the resources that the calls of a session need, whether they are valid or not.
func (m *Manager) unchecked(ctx context.Context, session string, h domarkx.Header) (Resources, error) {
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, session)
	if err != nil {
		return Resources{}, err
	}
	if workspace != session {
		if tip, err := m.store.WorkspaceTipOrNone(ctx, workspace); err != nil || tip.ID != "" {
			return ResourcesInVersion(workspace, tip), err
		}
	}
	return m.ResourcesOf(ctx, session, h)
}

// Digest identifies the additions to a session, regardless of their source.
func (r *Runs) Digest() Digest {
	if r == nil {
		return Digest{}
	}
	return Digest{}.with("added", r.What, r.Text)
}

// SpecsOf returns the specs of resources.
func SpecsOf(resources []domarkx.ResourceVersion) []domarkx.ResourceSpec {
	specs := make([]domarkx.ResourceSpec, len(resources))
	for i, r := range resources {
		specs[i] = r.ResourceSpec
	}
	return specs
}

// InSession adds the session's name to an error in its document.
func InSession(session string, err error) error {
	if syntax, ok := errors.AsType[*syntax.Error](err); ok && syntax.Path == "" {
		e := *syntax
		e.Path = session
		return &e
	}
	return err
}

// Languages returns a function that reports whether the resources of a session run code in a
// language, according to their plugins.
func (m *Manager) Languages(ctx context.Context, info domarkx.Info) (func(string) bool, error) {
	asked, err := m.Asked(ctx, info)
	if err != nil {
		return nil, err
	}
	types, err := m.env.Workspaces.Types(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, t := range types {
		if slices.ContainsFunc(asked.Specs, func(s domarkx.ResourceSpec) bool { return s.Type == t.Name }) {
			for _, language := range t.Languages {
				known[language] = true
			}
		}
	}
	return func(language string) bool { return known[language] }, nil
}
