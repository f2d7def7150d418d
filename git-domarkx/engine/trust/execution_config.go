package trust

import (
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// The members of execution_config that control calls.
const (
	configEngine    = "engine"
	configImage     = "image"
	configTimeout   = "timeout"
	configWorkspace = "workspace"
)

// engines maps names of engines to the resource types that implement them, where they differ.
var engines = map[string]string{"docker": "docker_sandbox"}

// documentSpecs returns the resources that a header asks for, in order. Its errors are of type
// *syntax.Error and have a JSON pointer.
func documentSpecs(h domarkx.Header) ([]domarkx.ResourceSpec, error) {
	if workspace, ok := h.ExecutionConfig.Get(configWorkspace); ok && workspace.Kind() != jsonvalue.Null {
		return domarkx.ParseWorkspace(workspace, "/execution_config/"+configWorkspace)
	}
	engine, ok := h.ExecutionConfig.Get(configEngine)
	if !ok || engine.Kind() == jsonvalue.Null {
		return nil, nil
	}
	if engine.Kind() != jsonvalue.String || engine.Text() == "" {
		return nil, &syntax.Error{Pointer: "/execution_config/engine", Msg: "is no name of an engine, expected local_shell or docker"}
	}
	kind := engine.Text()
	if known, ok := engines[kind]; ok {
		kind = known
	}
	config := jsonvalue.ObjectOf("type", kind)
	if image, ok := h.ExecutionConfig.Get(configImage); ok {
		config = config.With(configImage, image)
	}
	return []domarkx.ResourceSpec{{ID: kind, Type: kind, Config: config}}, nil
}

// defaultTimeout limits the time of a call if the document sets no timeout.
const defaultTimeout = 60 * time.Second

// CallTimeout returns the time limit of a call. It is 60 seconds if the header sets none. An
// invalid limit is a [*syntax.Error].
func CallTimeout(h domarkx.Header) (time.Duration, error) {
	v, ok := h.ExecutionConfig.Get(configTimeout)
	if !ok || v.Kind() == jsonvalue.Null {
		return defaultTimeout, nil
	}
	seconds, err := strconv.ParseFloat(v.Text(), 64)
	if v.Kind() != jsonvalue.Number || err != nil || seconds <= 0 || seconds > 1e9 {
		return 0, &syntax.Error{Pointer: "/execution_config/timeout", Msg: "is no time, expected a number of seconds greater than 0"}
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
