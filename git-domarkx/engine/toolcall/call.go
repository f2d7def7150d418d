// Package toolcall reads and writes the blocks of a message that contain tool calls and their
// results, and determines which blocks of a message can run.
package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// The languages of the blocks that hold a tool call and its outcome.
const (
	Language       = "tool-call"
	ResultLanguage = "tool-result"
)

// Runnable returns the blocks of a message that may run: tool calls that the user did not decline, and named code blocks.
// Whether a code block runs also depends on the workspace and the block's language. Calls that an agent recorded never run.
func Runnable(m domarkx.Message) []domarkx.Block {
	var blocks []domarkx.Block
	for i, b := range m.Content {
		if isRunnable(b) && !isDeclined(m.Content, i) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func isRunnable(b domarkx.Block) bool {
	return b.Type == domarkx.CodeBlock && (b.Language == Language && !all.IsRecord(b.Text) || b.Language != Language && b.Name != "" && b.Language != ResultLanguage)
}

// SameCode reports whether two blocks would run the same way.
func SameCode(a, b domarkx.Block) bool {
	return a.Language == b.Language && a.Name == b.Name && a.Text == b.Text
}

// A Step is one thing that an assistant's message runs: a tool call or a block of code.
type Step struct {
	Block    domarkx.Block
	Index    int    // index of the block in the content
	Result   string // the text of the block after it, if that is a tool result
	Done     bool   // whether that block exists
	Declined bool   // whether the user declined the call
}

// Steps returns the steps of an assistant's message in order. runs reports whether the workspace
// runs code in a language. Messages of other roles have no steps.
func Steps(m domarkx.Message, runs func(language string) bool) []Step {
	if m.Role != domarkx.Assistant {
		return nil
	}
	var all []Step
	for i, b := range m.Content {
		if !isRunnable(b) || b.Language != Language && !runs(b.Language) {
			continue
		}
		s := Step{Block: b, Index: i}
		if i+1 < len(m.Content) {
			if next := m.Content[i+1]; next.Type == domarkx.CodeBlock && next.Language == ResultLanguage {
				s.Result, s.Done, s.Declined = next.Text, true, isDeclined(m.Content, i)
			}
		}
		all = append(all, s)
	}
	return all
}

// A Request is a call that a message asks for.
type Request struct {
	Resource string
	domarkx.Call
}

// Parse parses the content of a tool-call block. Its errors are of type *domarkx.ToolError.
func Parse(text string) (Request, error) {
	bad := func(format string, args ...any) (Request, error) {
		return Request{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: "the tool-call block " + fmt.Sprintf(format, args...)}
	}
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return bad("is no JSON: %v", domarkx.Locate(err, []byte(text)))
	}
	if v.Kind() != jsonvalue.Object {
		return bad("is a JSON %s, expected an object", v.Kind())
	}
	var r Request
	for name, target := range map[string]*string{"resource": &r.Resource, "tool": &r.Tool} {
		member, _ := v.Get(name)
		if member.Kind() != jsonvalue.String || member.Text() == "" {
			return bad("has no %q, expected a string", name)
		}
		*target = member.Text()
	}
	r.Arguments = jsonvalue.ObjectValue()
	if arguments, ok := v.Get("arguments"); ok {
		if arguments.Kind() != jsonvalue.Object {
			return bad("has \"arguments\" that are a JSON %s, expected an object", arguments.Kind())
		}
		r.Arguments = arguments
	}
	return r, nil
}

// NewBlock returns the tool-call block for a request.
func NewBlock(r Request) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: Language, Text: JSONLine(jsonvalue.ObjectValue(
		jsonvalue.Member{Name: "resource", Value: jsonvalue.StringValue(r.Resource)},
		jsonvalue.Member{Name: "tool", Value: jsonvalue.StringValue(r.Tool)},
		jsonvalue.Member{Name: "arguments", Value: r.Arguments}))}
}

// An Outcome is the outcome of a call.
type Outcome struct {
	OK      bool
	Result  jsonvalue.Value // return value of the tool, if OK
	Version string          // version of the resource after the call, if OK
	Code    string          // code of the domarkx.ToolError, if not OK
	Message string
	LeftOut []domarkx.LeftOut // files that the version after the call does not contain

	declined bool // the user did not allow the call
}

// Failed returns the outcome of a call that ended with an error.
func Failed(err error) Outcome {
	if tool, ok := errors.AsType[*domarkx.ToolError](err); ok {
		return Outcome{Code: tool.Code, Message: tool.Message}
	}
	return Outcome{Code: domarkx.CodeBroken, Message: err.Error()}
}

// Block returns the tool-result block that records an outcome.
func (o Outcome) Block() domarkx.Block {
	v := jsonvalue.ObjectValue(jsonvalue.Member{Name: "ok", Value: jsonvalue.BoolValue(true)},
		jsonvalue.Member{Name: "result", Value: o.Result},
		jsonvalue.Member{Name: "version", Value: jsonvalue.StringValue(o.Version)})
	if !o.OK {
		v = jsonvalue.ObjectValue(jsonvalue.Member{Name: "ok", Value: jsonvalue.BoolValue(false)},
			jsonvalue.Member{Name: "error", Value: jsonvalue.ObjectValue(
				jsonvalue.Member{Name: "code", Value: jsonvalue.StringValue(o.Code)},
				jsonvalue.Member{Name: "message", Value: jsonvalue.StringValue(o.Message)})})
	}
	if len(o.LeftOut) > 0 {
		v = v.With(leftOutMember, leftOutValue(o.LeftOut))
		if more := len(o.LeftOut) - maxLeftOut; more > 0 {
			v = v.With("left_out_more", jsonvalue.NumberValue(strconv.Itoa(more)))
		}
	}
	if o.declined {
		v = v.With(declinedMember, jsonvalue.BoolValue(true))
	}
	return domarkx.Block{Type: domarkx.CodeBlock, Language: ResultLanguage, Text: JSONLine(v)}
}

// leftOutMember is the member of a result that names what the version after the call does not contain.
const leftOutMember = "left_out"

// maxLeftOut is the number of files that a result names.
const maxLeftOut = 20

func leftOutValue(files []domarkx.LeftOut) jsonvalue.Value {
	var list []jsonvalue.Value
	for _, f := range files[:min(len(files), maxLeftOut)] {
		list = append(list, jsonvalue.ObjectValue(jsonvalue.Member{Name: "path", Value: jsonvalue.StringValue(strings.ToValidUTF8(f.Path, "\ufffd"))},
			jsonvalue.Member{Name: "reason", Value: jsonvalue.StringValue(f.Reason)}))
	}
	return jsonvalue.ArrayValue(list...)
}

// ParseOutcome parses the content of a tool-result block. If the block was edited and cannot be
// parsed, the outcome has no code.
func ParseOutcome(text string) Outcome {
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return Outcome{}
	}
	ok, _ := v.Get("ok")
	result, _ := v.Get("result")
	version, _ := v.Get("version")
	reason, _ := v.Get("error")
	code, _ := reason.Get("code")
	message, _ := reason.Get("message")
	declined, _ := v.Get(declinedMember)
	return Outcome{OK: ok.IsTrue(), Result: result, Version: version.Text(), Code: code.Text(), Message: message.Text(),
		declined: declined.IsTrue() && code.Text() == domarkx.CodeRefused}
}

// Interrupted returns the outcome of a call during which the program ended.
func Interrupted(session string) Outcome {
	return Outcome{Code: domarkx.CodeInterrupted,
		Message: "the program ended during the call; git domarkx run --retry " + refname.Argument(session) + " makes it again"}
}

// FirstDifference returns the index of the first block in now that does not run as in was, or len(now) if there is none.
func FirstDifference(was, now []domarkx.Block) int {
	for i := range now {
		if i >= len(was) || !SameCode(was[i], now[i]) {
			return i
		}
	}
	return len(now)
}

// SameRunnable reports whether two versions of a message run the same code and calls.
func SameRunnable(a, b domarkx.Message) bool {
	return slices.EqualFunc(Runnable(a), Runnable(b), SameCode)
}

// declinedMember marks the result of a call that the user declined.
const declinedMember = "declined"

// Declined returns the outcome of a call that was not made because the user did not allow it.
func Declined(message string) Outcome {
	return Outcome{Code: domarkx.CodeRefused, Message: message, declined: true}
}

// isDeclined reports whether block i of a message is a call that the user declined. Such a call is only a record: it is not
// pending, no command makes it, and it needs no trust. If its result is removed, it is a call like any other.
func isDeclined(content []domarkx.Block, i int) bool {
	if i+1 >= len(content) || content[i].Type != domarkx.CodeBlock || content[i].Language != Language {
		return false
	}
	next := content[i+1]
	return next.Type == domarkx.CodeBlock && next.Language == ResultLanguage && ParseOutcome(next.Text).declined
}

// JSONLine returns a value as JSON on one line, with a space after each comma and colon. Calls
// and their results are written in this form.
func JSONLine(v jsonvalue.Value) string { return string(appendJSONLine(nil, v)) }

func appendJSONLine(dst []byte, v jsonvalue.Value) []byte {
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	switch v.Kind() {
	case jsonvalue.Array:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			separate(i)
			dst = appendJSONLine(dst, item)
		}
		return append(dst, ']')
	case jsonvalue.Object:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			separate(i)
			dst = jsonvalue.StringValue(m.Name).AppendJSON(dst, "", "")
			dst = appendJSONLine(append(dst, ": "...), m.Value)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst, "", "")
}
