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
	"github.com/domarkx/domarkx/format/transcript"
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
		s.Result, s.Done = ResultAfter(m.Content, i)
		s.Declined = isDeclined(m.Content, i)
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
	call := jsonvalue.ObjectOf("resource", r.Resource, "tool", r.Tool, "arguments", r.Arguments)
	return domarkx.Block{Type: domarkx.CodeBlock, Language: Language, Text: JSONLine(call)}
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
	v := jsonvalue.ObjectOf("ok", true, "result", o.Result, "version", o.Version)
	if !o.OK {
		v = jsonvalue.ObjectOf("ok", false, "error", jsonvalue.ObjectOf("code", o.Code, "message", o.Message))
	}
	if len(o.LeftOut) > 0 {
		var list []jsonvalue.Value
		for _, f := range o.LeftOut[:min(len(o.LeftOut), maxLeftOut)] {
			list = append(list, jsonvalue.ObjectOf("path", strings.ToValidUTF8(f.Path, "\ufffd"), "reason", f.Reason))
		}
		v = v.With("left_out", jsonvalue.ArrayValue(list...))
		if more := len(o.LeftOut) - maxLeftOut; more > 0 {
			v = v.With("left_out_more", jsonvalue.NumberValue(strconv.Itoa(more)))
		}
	}
	if o.declined {
		v = v.With(declinedMember, jsonvalue.BoolValue(true))
	}
	return domarkx.Block{Type: domarkx.CodeBlock, Language: ResultLanguage, Text: JSONLine(v)}
}

// maxLeftOut is the number of files that a result names.
const maxLeftOut = 20

// ParseOutcome parses the content of a tool-result block. If the block was edited and cannot be
// parsed, the outcome has no code.
func ParseOutcome(text string) Outcome {
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return Outcome{}
	}
	get := func(path ...string) jsonvalue.Value { return transcript.Get(v, path...) }
	code := get("error", "code").Text()
	return Outcome{OK: get("ok").IsTrue(), Result: get("result"), Version: get("version").Text(), Code: code, Message: get("error", "message").Text(),
		declined: get(declinedMember).IsTrue() && code == domarkx.CodeRefused}
}

// Interrupted returns the outcome of a call during which the program ended.
func Interrupted(session string) Outcome {
	return Outcome{Code: domarkx.CodeInterrupted,
		Message: "the program ended during the call; git domarkx run --retry " + refname.Argument(session) + " makes it again"}
}

// FirstDifference returns the index of the first step in now that does not run as in was, or len(now) if there is none.
func FirstDifference(was, now []Step) int {
	for i := range now {
		if i >= len(was) || !SameCode(was[i].Block, now[i].Block) {
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
	result, ok := ResultAfter(content, i)
	return ok && content[i].Type == domarkx.CodeBlock && content[i].Language == Language && ParseOutcome(result).declined
}

// ResultAfter returns the text of the tool-result block after block i of a message, if there is one.
func ResultAfter(content []domarkx.Block, i int) (text string, ok bool) {
	if i+1 >= len(content) || content[i+1].Type != domarkx.CodeBlock || content[i+1].Language != ResultLanguage {
		return "", false
	}
	return content[i+1].Text, true
}

// JSONLine returns a value as JSON on one line, with a space after each comma and colon. Calls
// and their results are written in this form.
func JSONLine(v jsonvalue.Value) string { return string(jsonvalue.Style{Blanks: true}.Append(nil, v)) }
