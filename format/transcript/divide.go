package transcript

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
)

// Divide returns the parts of a message: texts, thoughts, and calls with their results. In a
// message of the user, and in a tool-call block that is not valid, a call is text.
func Divide(m domarkx.Message) []Part {
	var parts []Part
	var run []domarkx.Block // of text
	runs := 0
	flush := func(isLast bool) {
		parts = append(parts, Part{Text: mdtext.Join(run, glueOf(m, runs, isLast && runs == 0))})
		runs, run = runs+1, nil
	}
	for i := 0; i < len(m.Content); i++ {
		b := m.Content[i]
		call, isCall := CallOf(b)
		result, isResult := ResultOf(b)
		var p Part
		switch {
		case m.Role == domarkx.Assistant && IsCode(b, "thought"):
			p = Part{Text: b.Text, Thought: true}
		case m.Role == domarkx.Assistant && isCall:
			p = Part{Call: &call}
			if i+1 < len(m.Content) {
				if result, ok := ResultOf(m.Content[i+1]); ok {
					result.ID = call.ID
					p.Result = &result
					i++
				}
			}
		case m.Role == domarkx.Assistant && isResult:
			p = Part{Result: &result}
		default:
			run = append(run, b)
			continue
		}
		flush(false)
		parts = append(parts, p)
	}
	flush(true)
	for k := 1; k < len(parts); k++ { // images that follow a result belong to it
		if r := parts[k-1].Result; r != nil && parts[k].isText() {
			r.Images, parts[k].Text = mdtext.LeadingImages(parts[k].Text)
		}
	}
	return slices.DeleteFunc(parts, func(p Part) bool { return p.isText() && strings.TrimSpace(p.Text) == "" })
}

func (p *Part) isText() bool { return !p.Thought && p.Call == nil && p.Result == nil }

// CallOf returns the call in a tool-call block; false for any other block, and for a call that is
// not valid.
func CallOf(b domarkx.Block) (Call, bool) {
	if !IsCode(b, "tool-call") {
		return Call{}, false
	}
	v, err := jsonvalue.ParseValue([]byte(b.Text))
	c := Call{Resource: Text(v, "resource"), ID: Text(v, "id"), Tool: Text(v, "tool"), Arguments: Get(v, "arguments")}
	if c.Arguments.Kind() != jsonvalue.Object {
		c.Arguments = jsonvalue.ObjectValue()
	}
	return c, err == nil && c.Tool != ""
}

// ResultOf returns the result in a tool-result block; false for any other block. A block that is
// not valid is a result with its text as the value.
func ResultOf(b domarkx.Block) (Result, bool) {
	if !IsCode(b, "tool-result") {
		return Result{}, false
	}
	v, err := jsonvalue.ParseValue([]byte(b.Text))
	if err != nil || v.Kind() != jsonvalue.Object {
		return Result{Value: Str(b.Text)}, true
	}
	if !Get(v, "ok").IsTrue() {
		return Result{Failed: true, Code: Text(v, "error", "code"), Value: Str(Text(v, "error", "message"))}, true
	}
	return Result{Value: Get(v, "result")}, true
}

// Said returns the value of a result as text: a string itself, any other value as JSON.
func (r *Result) Said() string {
	if r.Value.Kind() == jsonvalue.String {
		return r.Value.Text()
	}
	return Indented(r.Value)
}
