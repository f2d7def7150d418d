package openpocket

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// callOf returns the tool-call block of an action, and the action that would be derived from that
// block: "" if the action is not a JSON object.
func callOf(action string) (call, derived string) {
	v, err := jsonvalue.ParseValue([]byte(action))
	if err != nil || v.Kind() != jsonvalue.Object {
		v = jsonvalue.ObjectValue()
	} else {
		derived = transcript.Indented(v)
	}
	return transcript.Indented(transcript.Object("resource", resource, "tool", cmp.Or(transcript.Text(v, "type"), untyped), "arguments", v)), derived
}

// untyped is the tool of an action that has no type.
const untyped = "action"

// actionOf returns the action of a tool-call block: in its original spelling if the block still
// matches it, otherwise the arguments with the tool as their type.
func actionOf(call string, metadata jsonvalue.Value) string {
	if spelled, ok := metadata.Get(keyAction); ok && spelled.Kind() == jsonvalue.String {
		if now, _ := callOf(spelled.Text()); now == call {
			return spelled.Text()
		}
	}
	v, err := jsonvalue.ParseValue([]byte(call))
	if err != nil || v.Kind() != jsonvalue.Object {
		return transcript.Indented(transcript.Object("type", untyped, "text", call))
	}
	arguments := transcript.Get(v, "arguments")
	if arguments.Kind() != jsonvalue.Object {
		arguments = jsonvalue.ObjectValue()
	}
	if tool := transcript.Text(v, "tool"); tool != "" && transcript.Text(arguments, "type") != tool && (tool != untyped || transcript.Text(arguments, "type") != "") {
		members := append([]jsonvalue.Member{{Name: "type", Value: jsonvalue.StringValue(tool)}}, arguments.Without("type").Members()...)
		arguments = jsonvalue.ObjectValue(members...)
	}
	return transcript.Indented(arguments)
}

// failed is the beginning of the result of an action that could not be performed.
const failed = "Action execution error: "

// resultOf returns the tool-result block of a step's result.
func resultOf(result string) string {
	if strings.HasPrefix(result, failed) {
		return transcript.Indented(transcript.Object("ok", false, "error", transcript.Object("code", domarkx.CodeFailed, "message", result)))
	}
	return transcript.Indented(transcript.Object("ok", true, "result", result))
}

// textOf returns the result text of a tool-result block.
func textOf(block string) string {
	v, err := jsonvalue.ParseValue([]byte(block))
	if err != nil {
		return block
	}
	if e, ok := v.Get("error"); ok {
		return failed + strings.TrimPrefix(transcript.Text(e, "message"), failed)
	}
	r := transcript.Result{Value: transcript.Get(v, "result")}
	return r.Said()
}

// lostOfCall returns the parts of a tool-call block that a step cannot represent.
func lostOfCall(block string) []string {
	v, err := jsonvalue.ParseValue([]byte(block))
	if err != nil || v.Kind() != jsonvalue.Object {
		return []string{"that a tool-call is not a JSON object, which becomes text"}
	}
	var lost []string
	for _, m := range v.Members() {
		switch {
		case m.Name == "tool" && m.Value.Kind() == jsonvalue.String,
			m.Name == "arguments" && m.Value.Kind() == jsonvalue.Object,
			m.Name == "resource" && m.Value.Text() == resource:
		default:
			lost = append(lost, m.Name+" of a tool-call")
		}
	}
	if arguments := transcript.Get(v, "arguments"); transcript.Has(arguments, "type") {
		if now, err := jsonvalue.ParseValue([]byte(actionOf(block, jsonvalue.Value{}))); err != nil || transcript.Text(now, "type") != transcript.Text(arguments, "type") {
			lost = append(lost, "arguments.type of a tool-call")
		}
	}
	return lost
}

// lostOfResult returns the parts of a tool-result block that a step cannot represent.
func lostOfResult(block string) []string {
	v, err := jsonvalue.ParseValue([]byte(block))
	if err != nil {
		return nil
	}
	reason, isError := v.Get("error")
	var lost []string
	for _, m := range v.Members() {
		switch {
		case m.Name == "error", m.Name == "ok" && (isError || m.Value.IsTrue()), m.Name == "result" && !isError && m.Value.Kind() == jsonvalue.String:
		case m.Name == "ok":
			lost = append(lost, "that a result is not ok")
		case m.Name == "result" && !isError:
			lost = append(lost, "that a result is JSON, which becomes text")
		default:
			lost = append(lost, m.Name+" of a tool-result")
		}
	}
	for _, m := range reason.Members() {
		if (m.Name != "message" || m.Value.Kind() != jsonvalue.String) && (m.Name != "code" || m.Value.Text() != domarkx.CodeFailed) {
			lost = append(lost, "error."+m.Name+" of a tool-result")
		}
	}
	return lost
}

// screenshot is the beginning of the line of a result that names the step's picture.
const screenshot = "local_screenshot="

// pictureOf returns a block that shows the picture which a result names.
func pictureOf(number, result string) (domarkx.Block, bool) {
	last := result[strings.LastIndexByte(result, '\n')+1:]
	path, ok := strings.CutPrefix(last, screenshot)
	if !ok || path == "" || strings.ContainsAny(path, "<>\r") {
		return domarkx.Block{}, false
	}
	return domarkx.Block{Type: domarkx.TextBlock, Text: fmt.Sprintf("![Step %s](<%s>)", strings.Map(word, number), path)}, true
}

func word(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

var authLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Human auth (approved|rejected|timeout) request_id=(\S*) message=`)
})

// humanAuth returns the approval in a result, and whether it mentions one.
func humanAuth(result string) (jsonvalue.Value, bool) {
	m := authLine().FindStringSubmatch(result)
	if m == nil {
		return jsonvalue.Value{}, false
	}
	lines := strings.Split(result[len(m[0]):], "\n")
	known := []string{"local_screenshot", "delegation_template", "delegation_result", "human_artifact"}
	var found []jsonvalue.Member
	for len(lines) > 1 { // the message may have lines of its own, so that the known ones count from the end
		key, value, ok := strings.Cut(lines[len(lines)-1], "=")
		i := slices.Index(known, key)
		if !ok || i < 0 {
			break
		}
		known, lines = known[i+1:], lines[:len(lines)-1]
		found = append(found, jsonvalue.Member{Name: key, Value: jsonvalue.StringValue(value)})
	}
	message := strings.Join(lines, "\n")
	slices.Reverse(found)
	for _, member := range found {
		if member.Name == "delegation_result" { // the program repeats it after the message
			message = strings.TrimSuffix(message, " delegation="+member.Value.Text())
		}
	}
	v := transcript.Object("status", m[1], "request_id", m[2], "message", message)
	for _, member := range found {
		v = v.With(member.Name, member.Value)
	}
	return v, true
}
