package codex

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// say adds the content of a record to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	kind, payload, at := record(v)
	c := contextOf(m.Context)
	m.Cwd, m.Branch = c.Cwd, c.Branch
	switch kind {
	case typeUsage:
		m.Usage = usageOf(transcript.Get(payload, "usage"))
	case typeEvent:
		if transcript.Text(payload, "type") == "turn_aborted" {
			m.Stop = "aborted"
		} else if u := transcript.Get(payload, "info", "last_token_usage"); m.Usage == nil && u.Kind() == jsonvalue.Object {
			m.Usage = usageOf(u)
		}
	case typeItem:
		id := idOf(payload, at)
		m.Said(id, at)
		if m.Role == domarkx.User {
			sayPrompt(payload, m)
			return
		}
		m.Model = c.Model
		sayItem(payload, id, m)
	}
}

// usageOf returns the usage of a response. In the record, the input tokens include the cached ones.
func usageOf(u jsonvalue.Value) *transcript.Usage {
	cached, written := transcript.Int(u, "cached_input_tokens"), transcript.Int(u, "cache_write_input_tokens")
	return &transcript.Usage{Input: max(0, transcript.Int(u, "input_tokens")-cached-written), CacheRead: cached, CacheWrite: written,
		Output: transcript.Int(u, "output_tokens"), Reasoning: transcript.Int(u, "reasoning_output_tokens")}
}

func sayPrompt(payload jsonvalue.Value, m *transcript.Message) {
	for _, text := range promptTexts(payload) {
		m.Text(text)
	}
	for _, item := range transcript.Get(payload, "content").Items() {
		if !isImage(item) {
			continue
		}
		url := transcript.Text(item, "image_url")
		if image, ok := mdtext.DataImage(url); !ok || !m.Image(image) {
			m.Text("[image: " + url + "]")
		}
	}
}

func sayItem(payload jsonvalue.Value, id string, m *transcript.Message) {
	kind := transcript.Text(payload, "type")
	call := cmp.Or(transcript.Text(payload, "call_id"), id)
	switch kind {
	case "message", "agent_message":
		m.Text(transcript.Text(payload, "content"))
		for _, item := range transcript.Get(payload, "content").Items() {
			m.Text(transcript.Text(item, "text"))
		}
	case "reasoning":
		for _, item := range slices.Concat(transcript.Get(payload, "summary").Items(), transcript.Get(payload, "content").Items()) {
			m.Thought(transcript.Text(item, "text"))
		}
	case "function_call":
		m.Call(transcript.Call{ID: call, Tool: toolOf(payload), Arguments: arguments(transcript.Get(payload, "arguments"))})
	case "custom_tool_call":
		m.Call(transcript.Call{ID: call, Tool: toolOf(payload), Arguments: transcript.Object("input", transcript.Get(payload, "input"))})
	case "local_shell_call":
		m.Call(transcript.Call{ID: call, Tool: "local_shell", Arguments: transcript.Get(payload, "action")})
	case "web_search_call", "image_generation_call": // the results of these tools are not recorded separately
		m.Call(transcript.Call{ID: call, Tool: strings.TrimSuffix(kind, "_call"), Arguments: transcript.Get(payload, "action")})
		m.Result(transcript.Result{ID: call, Value: transcript.Str(cmp.Or(transcript.Text(payload, "result"), transcript.Text(payload, "status")))})
	default:
		switch {
		case strings.HasSuffix(kind, "_output"):
			m.Result(resultOf(call, payload))
		case strings.HasSuffix(kind, "_call"):
			m.Call(transcript.Call{ID: call, Tool: cmp.Or(toolOf(payload), strings.TrimSuffix(kind, "_call")),
				Arguments: arguments(either(transcript.Get(payload, "arguments"), transcript.Get(payload, "action")))})
		}
	}
}

func either(v, other jsonvalue.Value) jsonvalue.Value {
	if v.Kind() == jsonvalue.Null {
		return other
	}
	return v
}

// toolOf returns the name of a called tool, including its namespace: mcp__SERVER__TOOL for a tool of
// an MCP server. Some versions of Codex write the separator as a part of one of the two.
func toolOf(payload jsonvalue.Value) string {
	name, space := transcript.Text(payload, "name"), transcript.Text(payload, "namespace")
	switch {
	case space == "", strings.HasPrefix(name, strings.TrimSuffix(space, "__")+"__"): // no namespace, or one that the name repeats
		return name
	case strings.HasSuffix(space, "__"), strings.HasPrefix(name, "_"):
		return space + name
	}
	return space + "__" + name
}

// arguments returns the arguments of a call, which are JSON in a string.
func arguments(v jsonvalue.Value) jsonvalue.Value {
	if v.Kind() != jsonvalue.String {
		return v
	}
	if parsed, err := jsonvalue.ParseValue([]byte(v.Text())); err == nil && parsed.Kind() == jsonvalue.Object && parsed.Depth() < maxDepth {
		return parsed
	}
	if v.Text() == "" {
		return jsonvalue.ObjectValue()
	}
	return v
}

// maxDepth limits the nesting of arguments that are read.
const maxDepth = domarkx.MaxMessageDepth - 8

// resultOf returns the result in an output: a string, an array of texts and images, or, in old
// versions, an object or JSON in a string.
func resultOf(call string, payload jsonvalue.Value) transcript.Result {
	output := transcript.Get(payload, "output")
	r := transcript.Result{ID: call, Value: output}
	switch output.Kind() {
	case jsonvalue.String:
		if !strings.HasPrefix(strings.TrimLeft(output.Text(), " \t\r\n"), "{") {
			r.Failed = hasFailed(output.Text()) // most outputs are plain text
			break
		}
		v, err := jsonvalue.ParseValue([]byte(output.Text()))
		if err == nil && transcript.Get(v, "output").Kind() == jsonvalue.String && transcript.Has(v, "metadata") {
			r.Value, r.Failed = transcript.Get(v, "output"), transcript.Int(v, "metadata", "exit_code") != 0
		}
	case jsonvalue.Object:
		success := transcript.Get(output, "success")
		if content := transcript.Get(output, "content"); content.Kind() == jsonvalue.String {
			r.Value, r.Failed = content, success.Kind() == jsonvalue.Bool && !success.IsTrue()
		}
	case jsonvalue.Array:
		var texts []string
		for _, part := range output.Items() {
			image, isImage := mdtext.DataImage(transcript.Text(part, "image_url"))
			switch kind := transcript.Text(part, "type"); {
			case kind == "input_text" || kind == "output_text":
				texts = append(texts, transcript.Text(part, "text"))
			case kind == "input_image" && isImage:
				r.Images = append(r.Images, image)
			default:
				r.Images, r.Value = nil, transcript.Str(transcript.Indented(output))
				return r
			}
		}
		r.Value = transcript.Str(strings.Join(texts, "\n"))
	case jsonvalue.Null: // tool_search has its tools in a separate member
		r.Value = either(transcript.Get(payload, "tools"), transcript.Str(transcript.Text(payload, "status")))
	}
	if r.Value.Kind() != jsonvalue.String {
		r.Value = transcript.Str(transcript.Indented(r.Value))
	}
	return r
}

// aboveOutput are the lines, without their values, that Codex writes above the output of a command,
// besides the exit code.
var aboveOutput = []string{"Chunk ID: ", "Wall time: ", "Process running with session ID ", "Original token count: ", "Total output lines: "}

// hasFailed reports whether the lines that Codex writes above the output of a command say that it failed.
// It reads none of the output, which is below the line "Output:".
func hasFailed(text string) bool {
	failed := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		code, ok := strings.CutPrefix(line, "Process exited with code ")
		if !ok {
			code, ok = strings.CutPrefix(line, "Exit code: ")
		}
		switch {
		case line == "Output:":
			return failed
		case ok:
			n, err := strconv.Atoi(code)
			failed = err == nil && n != 0
		case !slices.ContainsFunc(aboveOutput, func(name string) bool { return strings.HasPrefix(line, name) }):
			return false
		}
	}
	return false
}
