package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
)

// ProjectFile is the name of the file with the settings that all sessions of a repository share.
const ProjectFile = project.File

// resourcesAt is the JSON pointer to the resources of a document.
const resourcesAt = "/execution_config/workspace/resources"

// An askedFor holds the resources that a session asks for. They come from its document, or else
// from the repository's .domarkx.toml, or else from the newest version of its workspace. The file
// also supplies defaults for resources in the document.
type askedFor struct {
	specs  []domarkx.ResourceSpec
	shared project.Config
	listed bool            // whether the file lists them, not the document
	engine bool            // whether the document names an engine
	own    []domarkx.Value // the configs without the defaults from the file
	added  *Runs           // additions from outside the document; nil for none
}

// askedFor returns the resources that a session with header h asks for. Errors in the document or
// in the file are of type *domarkx.SyntaxError.
func (m *SessionManager) askedFor(ctx context.Context, session string, h domarkx.Header) (a askedFor, err error) {
	if a, err = askedByDocument(h); err != nil {
		return a, inSession(session, err)
	}
	if a.shared, err = project.Read(m.env.WorkTree); err != nil {
		return a, err
	}
	if len(a.specs) == 0 && a.shared.Resources != nil {
		if a.specs, err = sharedSpecs(a.shared); err != nil {
			return a, err
		}
		a.listed = true
	}
	a.complete()
	if len(a.specs) > 0 {
		return a, nil
	}
	workspace, err := m.workspaceOf(ctx, session)
	if err != nil {
		return a, err
	}
	tip, err := m.tipOrNone(ctx, workspace)
	if err != nil || len(tip.Resources) == 0 {
		return a, err
	}
	return askedIn(workspace, tip), nil
}

// askedByDocument returns the resources in a document's header.
func askedByDocument(h domarkx.Header) (askedFor, error) {
	specs, err := resourceSpecs(h)
	workspaceConfig, _ := h.ExecutionConfig.Get(configWorkspace)
	return askedFor{specs: specs, engine: len(specs) > 0 && workspaceConfig.Kind() == domarkx.Null}, err
}

// askedIn returns the resources of a workspace, independent of any document.
func askedIn(workspace string, tip domarkx.Version) askedFor {
	specs := specsOf(tip.Resources)
	return askedFor{specs: specs, added: &Runs{"workspace " + workspace, "resources", configsText(specs)}}
}

// sharedSpecs returns the resources that the file lists.
func sharedSpecs(c project.Config) ([]domarkx.ResourceSpec, error) {
	specs, err := domarkx.ParseWorkspace(domarkx.ObjectValue(domarkx.Member{Name: "resources", Value: domarkx.ArrayValue(c.Resources...)}), "")
	var syntax *domarkx.SyntaxError
	if errors.As(err, &syntax) {
		return nil, c.Error(syntax.Pointer, syntax.Msg, domarkx.ErrInvalid)
	}
	return specs, err
}

// complete adds the defaults from the file to the configs, and records what came from the file.
func (a *askedFor) complete() {
	used := domarkx.ObjectValue()
	for i, spec := range a.specs {
		a.own = append(a.own, spec.Config)
		defaults := a.shared.Defaults(spec.Type)
		for _, m := range defaults.Members() {
			if _, ok := spec.Config.Get(m.Name); !ok {
				a.specs[i].Config = a.specs[i].Config.With(m.Name, m.Value)
				used = used.With(spec.Type, defaults)
			}
		}
	}
	switch {
	case a.listed:
		a.added = &Runs{project.File, "resources", configsText(a.specs)}
	case len(used.Members()) > 0:
		a.added = &Runs{project.File, "plugins", string(used.AppendJSON(nil, "", "  "))}
	}
}

func configsText(specs []domarkx.ResourceSpec) string {
	configs := make([]domarkx.Value, len(specs))
	for i, spec := range specs {
		configs[i] = spec.Config
	}
	return string(domarkx.ArrayValue(configs...).AppendJSON(nil, "", "  "))
}

// at adds the location in the session's document or in the file to an error about a resource.
func (a *askedFor) at(session string, err error) error {
	var syntax *domarkx.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	rest, ok := strings.CutPrefix(syntax.Pointer, resourcesAt+"/")
	index, key, _ := strings.Cut(rest, "/")
	i, notNumber := strconv.Atoi(index)
	if !ok || notNumber != nil || i >= len(a.own) {
		return inSession(session, err)
	}
	name, _, _ := strings.Cut(key, "/")
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	_, own := a.own[i].Get(name)
	_, completed := a.specs[i].Config.Get(name)
	switch {
	case !own && completed:
		return a.shared.Error("/plugins/"+pointerToken(a.specs[i].Type)+"/"+key, syntax.Msg, syntax.Err)
	case a.listed:
		return a.shared.Error(strings.TrimSuffix("/resources/"+index+"/"+key, "/"), syntax.Msg, syntax.Err)
	case a.engine:
		e := *syntax
		e.Pointer = "/execution_config/" + configEngine
		if name == configImage {
			e.Pointer = "/execution_config/" + key
		}
		err = &e
	}
	return inSession(session, err)
}

// check validates the requested resources with their plugins.
func (m *SessionManager) check(ctx context.Context, session string, a askedFor) error {
	if err := m.checkDefaults(ctx, a.shared); err != nil {
		return err
	}
	if len(a.specs) == 0 {
		return nil
	}
	return a.at(session, m.env.Workspaces.Check(ctx, a.specs))
}

// checkAdded validates the file's additions to a session with the plugins. The first call reports
// errors in the document itself.
func (m *SessionManager) checkAdded(ctx context.Context, info domarkx.Info) error {
	h, err := m.header(ctx, info.ID)
	if err != nil {
		return err
	}
	if _, err := resourceSpecs(h); err != nil {
		return m.readProject()
	}
	asked, err := m.askedFor(ctx, info.Name, h)
	if err != nil {
		return err
	}
	if !asked.listed {
		return m.checkDefaults(ctx, asked.shared)
	}
	return m.check(ctx, info.Name, asked)
}

// checkDefaults validates the defaults in the file with the plugins.
func (m *SessionManager) checkDefaults(ctx context.Context, c project.Config) error {
	for _, d := range c.Plugins {
		err := m.env.Workspaces.CheckDefaults(ctx, d.Type, d.Config)
		var syntax *domarkx.SyntaxError
		if errors.As(err, &syntax) {
			return c.Error("/plugins/"+pointerToken(d.Type)+syntax.Pointer, syntax.Msg, syntax.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckProject validates the repository's .domarkx.toml. Its errors are of type
// *domarkx.SyntaxError.
func (m *SessionManager) CheckProject(ctx context.Context) error {
	a := askedFor{listed: true}
	var err error
	if a.shared, err = project.Read(m.env.WorkTree); err != nil {
		return err
	}
	if a.shared.Resources != nil {
		if a.specs, err = sharedSpecs(a.shared); err != nil {
			return err
		}
	}
	a.complete()
	return m.check(ctx, project.File, a)
}

// readProject validates .domarkx.toml without starting plugins, which may be programs.
func (m *SessionManager) readProject() error {
	c, err := project.Read(m.env.WorkTree)
	if err == nil && c.Resources != nil {
		_, err = sharedSpecs(c)
	}
	return err
}

// addedTo returns the things that a session can run in addition to its document, or nil for none.
// If .domarkx.toml is invalid, it returns the error text as an addition, which nobody has
// trusted.
func (m *SessionManager) addedTo(ctx context.Context, session string, h domarkx.Header) (*Runs, error) {
	if _, err := resourceSpecs(h); err != nil {
		return nil, nil // an invalid document runs nothing
	}
	if err := m.readProject(); err != nil {
		return &Runs{project.File, "error", err.Error()}, nil
	}
	workspace, err := m.workspaceOf(ctx, session)
	if err != nil {
		return nil, err
	}
	if workspace != session {
		if tip, err := m.tipOrNone(ctx, workspace); err != nil || tip.ID != "" {
			return askedIn(workspace, tip).added, err
		}
	}
	a, err := m.askedFor(ctx, session, h)
	return a.added, err
}

// digest identifies the additions to a session, regardless of their source.
func (r *Runs) digest() trustDigest {
	if r == nil {
		return trustDigest{}
	}
	return trustDigest{}.with("added", r.What, r.Text)
}

// pointerToken escapes a name as a token of a JSON pointer (RFC 6901).
func pointerToken(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
