package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// The languages of the blocks that hold a tool call and its outcome.
const (
	Language       = "tool-call"
	ResultLanguage = "tool-result"
)

// Runnable returns the blocks of a message that may run: tool calls that the user did not decline,
// and named code blocks. Whether a code block runs also depends on the workspace and the block's
// language. Calls that an agent recorded never run.
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
	return b.Type == domarkx.CodeBlock && (b.Language == Language && !format.IsRecord(b.Text) || b.Language != Language && b.Name != "" && b.Language != ResultLanguage)
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
	v, err := domarkx.ParseValue([]byte(text))
	if err != nil {
		return bad("is no JSON: %v", domarkx.Locate(err, []byte(text)))
	}
	if v.Kind() != domarkx.Object {
		return bad("is a JSON %s, expected an object", v.Kind())
	}
	var r Request
	for name, target := range map[string]*string{"resource": &r.Resource, "tool": &r.Tool} {
		member, _ := v.Get(name)
		if member.Kind() != domarkx.String || member.Text() == "" {
			return bad("has no %q, expected a string", name)
		}
		*target = member.Text()
	}
	r.Arguments = domarkx.ObjectValue()
	if arguments, ok := v.Get("arguments"); ok {
		if arguments.Kind() != domarkx.Object {
			return bad("has \"arguments\" that are a JSON %s, expected an object", arguments.Kind())
		}
		r.Arguments = arguments
	}
	return r, nil
}

// NewBlock returns the tool-call block for a request.
func NewBlock(r Request) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: Language, Text: JSONLine(domarkx.ObjectValue(
		domarkx.Member{Name: "resource", Value: domarkx.StringValue(r.Resource)},
		domarkx.Member{Name: "tool", Value: domarkx.StringValue(r.Tool)},
		domarkx.Member{Name: "arguments", Value: r.Arguments}))}
}

// An Outcome is the outcome of a call.
type Outcome struct {
	OK      bool
	Result  domarkx.Value // return value of the tool, if OK
	Version string        // version of the resource after the call, if OK
	Code    string        // code of the domarkx.ToolError, if not OK
	Message string
	LeftOut []domarkx.LeftOut // files that the version after the call does not contain

	declined bool // the user did not allow the call
}

// Failed returns the outcome of a call that ended with an error.
func Failed(err error) Outcome {
	var tool *domarkx.ToolError
	if errors.As(err, &tool) {
		return Outcome{Code: tool.Code, Message: tool.Message}
	}
	return Outcome{Code: domarkx.CodeBroken, Message: err.Error()}
}

// Block returns the tool-result block that records an outcome.
func (o Outcome) Block() domarkx.Block {
	v := domarkx.ObjectValue(domarkx.Member{Name: "ok", Value: domarkx.BoolValue(true)},
		domarkx.Member{Name: "result", Value: o.Result},
		domarkx.Member{Name: "version", Value: domarkx.StringValue(o.Version)})
	if !o.OK {
		v = domarkx.ObjectValue(domarkx.Member{Name: "ok", Value: domarkx.BoolValue(false)},
			domarkx.Member{Name: "error", Value: domarkx.ObjectValue(
				domarkx.Member{Name: "code", Value: domarkx.StringValue(o.Code)},
				domarkx.Member{Name: "message", Value: domarkx.StringValue(o.Message)})})
	}
	if len(o.LeftOut) > 0 {
		v = v.With(leftOutMember, leftOutValue(o.LeftOut))
	}
	if o.declined {
		v = v.With(declinedMember, domarkx.BoolValue(true))
	}
	return domarkx.Block{Type: domarkx.CodeBlock, Language: ResultLanguage, Text: JSONLine(v)}
}

// leftOutMember is the member of a result that names what the version after the call does not contain.
const leftOutMember = "left_out"

// maxLeftOut is the number of files that a result names.
const maxLeftOut = 20

func leftOutValue(files []domarkx.LeftOut) domarkx.Value {
	var list []domarkx.Value
	for _, f := range files[:min(len(files), maxLeftOut)] {
		list = append(list, domarkx.ObjectValue(domarkx.Member{Name: "path", Value: domarkx.StringValue(strings.ToValidUTF8(f.Path, "\ufffd"))},
			domarkx.Member{Name: "reason", Value: domarkx.StringValue(f.Reason)}))
	}
	return domarkx.ArrayValue(list...)
}

// ParseOutcome parses the content of a tool-result block. If the block was edited and cannot be
// parsed, the outcome has no code.
func ParseOutcome(text string) Outcome {
	v, err := domarkx.ParseValue([]byte(text))
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

// FirstDifference returns the index of the first block in now that does not run as in was, or
// len(now) if there is none.
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

// isDeclined reports whether block i of a message is a call that the user declined. Such a call is
// only a record: it is not pending, no command makes it, and it needs no trust. If its result is
// removed, it is a call like any other.
func isDeclined(content []domarkx.Block, i int) bool {
	if i+1 >= len(content) || content[i].Type != domarkx.CodeBlock || content[i].Language != Language {
		return false
	}
	next := content[i+1]
	return next.Type == domarkx.CodeBlock && next.Language == ResultLanguage && ParseOutcome(next.Text).declined
}

// JSONLine returns a value as JSON on one line, with a space after each comma and colon. Calls
// and their results are written in this form.
func JSONLine(v domarkx.Value) string { return string(appendJSONLine(nil, v)) }

func appendJSONLine(dst []byte, v domarkx.Value) []byte {
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	switch v.Kind() {
	case domarkx.Array:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			separate(i)
			dst = appendJSONLine(dst, item)
		}
		return append(dst, ']')
	case domarkx.Object:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			separate(i)
			dst = domarkx.StringValue(m.Name).AppendJSON(dst, "", "")
			dst = appendJSONLine(append(dst, ": "...), m.Value)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst, "", "")
}
