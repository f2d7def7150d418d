package engine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/domarkx/domarkx"
)

// The members of execution_config that say how calls are made.
const (
	configEngine    = "engine"
	configImage     = "image"
	configTimeout   = "timeout"
	configWorkspace = "workspace"
)

// engines are the types of resources that engines of another name are.
var engines = map[string]string{"docker": "docker_sandbox"}

// resourceSpecs returns the resources that a header asks for, in order; none when it
// asks for none. What is wrong is a *domarkx.SyntaxError with its pointer.
func resourceSpecs(h domarkx.Header) ([]domarkx.ResourceSpec, error) {
	if workspace, ok := h.ExecutionConfig.Get(configWorkspace); ok {
		return workspaceSpecs(workspace)
	}
	engine, ok := h.ExecutionConfig.Get(configEngine)
	if !ok || engine.Kind() == domarkx.Null {
		return nil, nil
	}
	if engine.Kind() != domarkx.String || engine.Text() == "" {
		return nil, &domarkx.SyntaxError{Pointer: "/execution_config/engine", Msg: "is no name of an engine, expected local_shell or docker"}
	}
	kind := engine.Text()
	if known, ok := engines[kind]; ok {
		kind = known
	}
	config := domarkx.ObjectValue(domarkx.Member{Name: "type", Value: domarkx.StringValue(kind)})
	if image, ok := h.ExecutionConfig.Get(configImage); ok {
		config = config.With(configImage, image)
	}
	return []domarkx.ResourceSpec{{ID: kind, Type: kind, Config: config}}, nil
}

func workspaceSpecs(workspace domarkx.Value) ([]domarkx.ResourceSpec, error) {
	const at = resourcesAt
	resources, _ := workspace.Get("resources")
	if resources.Kind() != domarkx.Array || len(resources.Items()) == 0 {
		return nil, &domarkx.SyntaxError{Pointer: at, Msg: "is missing or empty, expected a list of at least one resource"}
	}
	specs := make([]domarkx.ResourceSpec, 0, len(resources.Items()))
	taken := map[string]bool{}
	for i, r := range resources.Items() {
		kind, _ := r.Get("type")
		if kind.Kind() != domarkx.String || kind.Text() == "" {
			return nil, &domarkx.SyntaxError{Pointer: fmt.Sprintf("%s/%d/type", at, i), Msg: "is missing or no string, expected the type of the resource"}
		}
		spec := domarkx.ResourceSpec{Type: kind.Text(), Config: r}
		if id, ok := r.Get("id"); ok {
			if spec.ID = id.Text(); id.Kind() != domarkx.String || !isResourceID(spec.ID) {
				return nil, &domarkx.SyntaxError{Pointer: fmt.Sprintf("%s/%d/id", at, i),
					Msg: "is no id of a resource, expected letters, digits, \".\", \"_\" and \"-\", the first a letter, digit or \"_\""}
			}
			if taken[spec.ID] {
				return nil, &domarkx.SyntaxError{Pointer: fmt.Sprintf("%s/%d/id", at, i), Msg: fmt.Sprintf("is %q, which another resource has", spec.ID)}
			}
			taken[spec.ID] = true
		}
		specs = append(specs, spec)
	}
	for i, spec := range specs { // those without an id take what is left
		for n := 1; specs[i].ID == ""; n++ {
			id := spec.Type
			if n > 1 {
				id += "-" + strconv.Itoa(n)
			}
			if !taken[id] {
				specs[i].ID, taken[id] = id, true
			}
		}
		if !isResourceID(specs[i].ID) {
			return nil, &domarkx.SyntaxError{Pointer: fmt.Sprintf("%s/%d/type", at, i), Msg: fmt.Sprintf("is %q, which is no type of a resource", spec.Type)}
		}
	}
	return specs, nil
}

// isResourceID reports whether an id can be the name of a folder in a version.
func isResourceID(id string) bool {
	if id == "" || len(id) > 100 || id[0] == '.' || id[0] == '-' || id == "workspace.json" {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// defaultTimeout is how long a call may take where the document does not say.
const defaultTimeout = 60 * time.Second

// callTimeout returns how long a call may take.
func callTimeout(h domarkx.Header) (time.Duration, error) {
	v, ok := h.ExecutionConfig.Get(configTimeout)
	if !ok || v.Kind() == domarkx.Null {
		return defaultTimeout, nil
	}
	seconds, err := strconv.ParseFloat(v.Text(), 64)
	if v.Kind() != domarkx.Number || err != nil || seconds <= 0 || seconds > 1e9 {
		return 0, &domarkx.SyntaxError{Pointer: "/execution_config/timeout", Msg: "is no time, expected a number of seconds greater than 0"}
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

func messageName(k int) string { return "message " + strconv.Itoa(k) }
