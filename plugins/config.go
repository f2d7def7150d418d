package plugins

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/syntax"
)

// Check validates the types and configs of resources without creating anything. It returns a
// [*syntax.Error] whose JSON pointer starts at the top of a snapshot. For an unknown type
// the error wraps domarkx.ErrNotFound.
func (m *WorkspaceManager) Check(ctx context.Context, specs []domarkx.ResourceSpec) error {
	ids := map[string]int{}
	for i, spec := range specs {
		at := fmt.Sprintf("/execution_config/workspace/resources/%d", i)
		if !domarkx.ValidResourceID(spec.ID) {
			return &syntax.Error{Pointer: at + "/id", Err: domarkx.ErrInvalid,
				Msg: fmt.Sprintf("%q cannot be the id of a resource, expected at most 100 letters, digits, '.', '_' and '-' that begin with no '.' or '-'", spec.ID)}
		}
		if first, ok := ids[spec.ID]; ok {
			return &syntax.Error{Pointer: at + "/id", Err: domarkx.ErrInvalid,
				Msg: fmt.Sprintf("%q is the id of resource %d too, expected another", spec.ID, first)}
		}
		ids[spec.ID] = i
		k, err := m.resourceType(ctx, spec.Type)
		if err != nil {
			return &syntax.Error{Pointer: at + "/type", Msg: err.Error(), Err: err}
		}
		if err := checkConfig(k, k.config, pluginConfig(spec.Config), at); err != nil {
			return err
		}
	}
	if a, b, found := m.findOverlap(specs); found {
		path := func(i int) string { v, _ := specs[i].Config.Get("path"); return v.Text() }
		return &syntax.Error{Pointer: fmt.Sprintf("/execution_config/workspace/resources/%d/path", b), Err: domarkx.ErrInvalid,
			Msg: fmt.Sprintf("path %q of resource %q and path %q of resource %q are the same directory, or one lies in the other; expected each to work on its own", path(b), specs[b].ID, path(a), specs[a].ID)}
	}
	return nil
}

// pluginConfig returns the config that the plugin receives: the resource object of a document
// without its members "type" and "id". It returns {} if v is not an object.
func pluginConfig(v jsonvalue.Value) jsonvalue.Value {
	if v.Kind() != jsonvalue.Object {
		return jsonvalue.ObjectValue()
	}
	return v.Without("type").Without("id")
}

// expand replaces ${NAME} in the strings of a config by the value of the environment variable,
// and registers the value with secrets for redaction; $${ stands for ${.
func (m *WorkspaceManager) expand(v jsonvalue.Value, secrets *redactor) (jsonvalue.Value, error) {
	switch v.Kind() {
	case jsonvalue.String:
		s, err := m.expandString(v.Text(), secrets)
		if err != nil || s == v.Text() {
			return v, err
		}
		return jsonvalue.StringValue(s), nil
	case jsonvalue.Array:
		items := make([]jsonvalue.Value, len(v.Items()))
		for i, item := range v.Items() {
			var err error
			if items[i], err = m.expand(item, secrets); err != nil {
				return v, err
			}
		}
		return jsonvalue.ArrayValue(items...), nil
	case jsonvalue.Object:
		members := make([]jsonvalue.Member, len(v.Members()))
		for i, member := range v.Members() {
			value, err := m.expand(member.Value, secrets)
			if err != nil {
				return v, err
			}
			members[i] = jsonvalue.Member{Name: member.Name, Value: value}
		}
		return jsonvalue.ObjectValue(members...), nil
	}
	return v, nil
}

func (m *WorkspaceManager) expandString(s string, secrets *redactor) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		name, rest, ok := strings.Cut(s[i+2:], "}")
		if !ok || name == "" {
			return "", fmt.Errorf("config: \"${\" without a name and \"}\" in %q: %w (write \"$${\" for \"${\" itself)", s, domarkx.ErrInvalid)
		}
		value, set := m.config.Env(name)
		if !set {
			return "", fmt.Errorf("config: ${%s}: the environment variable %s is not set: %w; set it and try again", name, name, domarkx.ErrNotFound)
		}
		secrets.add(name, value)
		b.WriteString(s[:i] + value)
		s = rest
	}
}

// expandAllowed expands ${NAME} in what the user's configuration allows, as in configs, so that
// nobody has to write a secret into the Git configuration. An entry with a variable that is not
// set stays as it is.
func (m *WorkspaceManager) expandAllowed(allowed []string) []string {
	expanded := make([]string, len(allowed))
	for i, s := range allowed {
		expanded[i] = s
		if text, err := m.expandString(s, &redactor{}); err == nil {
			expanded[i] = text
		}
	}
	return expanded
}

// CheckDefaults validates values for some config keys of a type, as Check does, with a pointer
// from the top of the config. It does not require other keys.
func (m *WorkspaceManager) CheckDefaults(ctx context.Context, typ string, config jsonvalue.Value) error {
	k, err := m.resourceType(ctx, typ)
	if err != nil {
		return &syntax.Error{Msg: err.Error(), Err: err}
	}
	all := k.description.Config
	if all.Kind() != jsonvalue.Object {
		return nil
	}
	keys := jsonvalue.ObjectValue()
	for _, keyword := range []string{"type", "properties", "patternProperties", "additionalProperties", "propertyNames", "$defs", "definitions"} {
		if v, ok := all.Get(keyword); ok {
			keys = keys.With(keyword, v)
		}
	}
	s, err := compile(keys)
	if err != nil {
		return fmt.Errorf("plugin %q, schema of its config: %w", typ, err)
	}
	return checkConfig(k, s, config, "")
}

// checkConfig returns the first error in a config at a place, or nil.
func checkConfig(k *resourceType, s *schema.Schema, config jsonvalue.Value, at string) error {
	found := check(s, config)
	if len(found) == 0 {
		return nil
	}
	err := found[0]
	key := strings.TrimPrefix(err.Pointer, "/")
	err.Pointer, err.Err = at+err.Pointer, domarkx.ErrInvalid
	properties, _ := k.description.Config.Get("properties")
	more, _ := k.description.Config.Get("additionalProperties")
	if more.Kind() == jsonvalue.Bool && !more.IsTrue() && !strings.Contains(key, "/") {
		var known []string
		for _, m := range properties.Members() {
			if m.Name == key {
				return err
			}
			known = append(known, m.Name)
		}
		if _, there := config.Get(key); there {
			err.Msg = fmt.Sprintf("is not a key of the config of %s, expected one of %s", k.plugin.Type(), strings.Join(known, ", "))
		}
	}
	return err
}
