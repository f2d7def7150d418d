package trust

import (
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
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
// *domarkx.SyntaxError and have a JSON pointer.
func documentSpecs(h domarkx.Header) ([]domarkx.ResourceSpec, error) {
	if workspace, ok := h.ExecutionConfig.Get(configWorkspace); ok && workspace.Kind() != domarkx.Null {
		return domarkx.ParseWorkspace(workspace, "/execution_config/"+configWorkspace)
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

// defaultTimeout limits the time of a call if the document sets no timeout.
const defaultTimeout = 60 * time.Second

// CallTimeout returns the time limit of a call. It is 60 seconds if the header sets none. An
// invalid limit is a [*domarkx.SyntaxError].
func CallTimeout(h domarkx.Header) (time.Duration, error) {
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
