package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// separator separates the resource and the tool in the name that a model gets.
const separator = "__"

// maxToolName is the maximum length in bytes of a tool's name that all providers allow.
const maxToolName = 64

// A toolTable maps the tools of a workspace to the names that a model gets.
type toolTable struct {
	offers []turns.ToolOffer
	names  []string // names[i] is the name of offers[i]
}

func newToolTable(offers []turns.ToolOffer) toolTable {
	t := toolTable{offers: offers}
	for _, o := range offers {
		name := provider.ToolName(o.Resource + separator + o.Name)
		for n := 2; slices.Contains(t.names, name); n++ {
			suffix := "_" + strconv.Itoa(n)
			name = name[:min(len(name), maxToolName-len(suffix))] + suffix
		}
		t.names = append(t.names, name)
	}
	return t
}

func (t toolTable) definitions() []provider.Tool {
	tools := make([]provider.Tool, len(t.offers))
	for i, o := range t.offers {
		schema := o.Schema
		if schema.Kind() != jsonvalue.Object {
			schema = transcript.Object("type", "object")
		}
		tools[i] = provider.Tool{Name: t.names[i], Description: o.Description, Schema: []byte(schema.JSON())}
	}
	return tools
}

// name returns a tool's name in requests, also for a tool that no longer exists.
func (t toolTable) name(resource, tool string) string {
	if i := t.index(resource, tool); i >= 0 {
		return t.names[i]
	}
	if resource == "" {
		return provider.ToolName(tool)
	}
	return provider.ToolName(resource + separator + tool)
}

// offer returns the tool with that name, or nil.
func (t toolTable) offer(resource, tool string) *turns.ToolOffer {
	if i := t.index(resource, tool); i >= 0 {
		return &t.offers[i]
	}
	return nil
}

func (t toolTable) index(resource, tool string) int {
	return slices.IndexFunc(t.offers, func(o turns.ToolOffer) bool { return o.Resource == resource && o.Name == tool })
}

// block returns the tool-call block for a call by the model. If the tool does not exist, the
// resource is the part of the name before the separator, or "". Arguments that are not a JSON
// object become a string.
func (t toolTable) block(c provider.Call) domarkx.Block {
	var resource, tool string
	if i := slices.Index(t.names, c.Name); i >= 0 {
		resource, tool = t.offers[i].Resource, t.offers[i].Name
	} else if before, after, ok := strings.Cut(c.Name, separator); ok {
		resource, tool = before, after
	} else {
		tool = c.Name
	}
	raw := strings.ToValidUTF8(c.Arguments, "\ufffd")
	arguments, err := jsonvalue.ParseValue([]byte(raw))
	switch {
	case strings.TrimSpace(raw) == "":
		arguments = jsonvalue.ObjectValue()
	case err != nil || arguments.Kind() != jsonvalue.Object || arguments.Depth() > maxArgumentDepth:
		arguments = jsonvalue.StringValue(raw)
	}
	return transcript.Code(toolCall, toolcall.JSONLine(transcript.Object("resource", text(resource), "tool", text(tool), "arguments", arguments)))
}

// maxArgumentDepth is the maximum nesting of arguments; the document adds some levels to it.
const maxArgumentDepth = jsonvalue.MaxDepth - 100

// problem returns the reason why a call cannot be made, or nil. In addition to c.Problem, it
// detects tools that the model was not offered.
func (t toolTable) problem(c turns.PendingCall) *domarkx.ToolError {
	if t.offer(c.Resource, c.Tool) != nil {
		return c.Problem
	}
	if c.Problem != nil && c.Resource != "" {
		return c.Problem
	}
	what := "there are no tools"
	if len(t.names) > 0 {
		what = "the tools are " + strings.Join(t.names, ", ")
	}
	return &domarkx.ToolError{Code: domarkx.CodeUnknownTool, Message: "there is no tool " + strconv.Quote(t.name(c.Resource, c.Tool)) + "; " + what}
}
