package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// The languages of the blocks that hold a tool call and its outcome.
const (
	toolCall   = "tool-call"
	toolResult = "tool-result"
)

// runnable returns the blocks of a message that may be run: tool calls that the user did not
// decline, and code blocks with a name. The workspace decides by language which code blocks are run.
// Calls that an agent recorded are never run.
func runnable(m domarkx.Message) []domarkx.Block {
	var blocks []domarkx.Block
	for i, b := range m.Content {
		if isRunnable(b) && !isDeclined(m.Content, i) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func isRunnable(b domarkx.Block) bool {
	return b.Type == domarkx.CodeBlock && (b.Language == toolCall && !format.IsRecord(b.Text) || b.Language != toolCall && b.Name != "" && b.Language != toolResult)
}

// sameCode reports whether two blocks would run the same way.
func sameCode(a, b domarkx.Block) bool {
	return a.Language == b.Language && a.Name == b.Name && a.Text == b.Text
}

// A step is one thing that an assistant's message runs: a tool call or a block of code.
type step struct {
	block    domarkx.Block
	at       int    // index of the block in the content
	result   string // the text of the block after it, if that is a tool result
	done     bool   // whether that block exists
	declined bool   // see isDeclined
}

// steps returns the steps of an assistant's message in order. runs reports whether the workspace
// runs code in a language. Messages of other roles have no steps.
func steps(m domarkx.Message, runs func(language string) bool) []step {
	if m.Role != domarkx.Assistant {
		return nil
	}
	var all []step
	for i, b := range m.Content {
		if !isRunnable(b) || b.Language != toolCall && !runs(b.Language) {
			continue
		}
		s := step{block: b, at: i}
		if i+1 < len(m.Content) {
			if next := m.Content[i+1]; next.Type == domarkx.CodeBlock && next.Language == toolResult {
				s.result, s.done, s.declined = next.Text, true, isDeclined(m.Content, i)
			}
		}
		all = append(all, s)
	}
	return all
}

// A request is a call that a message asks for.
type request struct {
	Resource string
	domarkx.Call
}

// parseCall parses the content of a tool-call block. Its errors are of type *domarkx.ToolError.
func parseCall(text string) (request, error) {
	bad := func(format string, args ...any) (request, error) {
		return request{}, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: "the tool-call block " + fmt.Sprintf(format, args...)}
	}
	v, err := domarkx.ParseValue([]byte(text))
	if err != nil {
		return bad("is no JSON: %v", domarkx.Locate(err, []byte(text)))
	}
	if v.Kind() != domarkx.Object {
		return bad("is a JSON %s, expected an object", v.Kind())
	}
	var r request
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

// callBlock returns the tool-call block for a request.
func callBlock(r request) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: toolCall, Text: JSONLine(domarkx.ObjectValue(
		domarkx.Member{Name: "resource", Value: domarkx.StringValue(r.Resource)},
		domarkx.Member{Name: "tool", Value: domarkx.StringValue(r.Tool)},
		domarkx.Member{Name: "arguments", Value: r.Arguments}))}
}

// An Outcome is the outcome of a call.
type Outcome struct {
	OK      bool
	Result  domarkx.Value // return value of the tool, if OK
	Version string        // of the resource after the call, if OK
	Code    string        // code of the domarkx.ToolError, if not OK
	Message string

	declined bool // the user did not allow the call
}

// failed returns the outcome of a call that ended with an error.
func failed(err error) Outcome {
	var tool *domarkx.ToolError
	if errors.As(err, &tool) {
		return Outcome{Code: tool.Code, Message: tool.Message}
	}
	return Outcome{Code: domarkx.CodeBroken, Message: err.Error()}
}

// block returns the tool-result block that records an outcome.
func (o Outcome) block() domarkx.Block {
	v := domarkx.ObjectValue(domarkx.Member{Name: "ok", Value: domarkx.BoolValue(true)},
		domarkx.Member{Name: "result", Value: o.Result},
		domarkx.Member{Name: "version", Value: domarkx.StringValue(o.Version)})
	if !o.OK {
		v = domarkx.ObjectValue(domarkx.Member{Name: "ok", Value: domarkx.BoolValue(false)},
			domarkx.Member{Name: "error", Value: domarkx.ObjectValue(
				domarkx.Member{Name: "code", Value: domarkx.StringValue(o.Code)},
				domarkx.Member{Name: "message", Value: domarkx.StringValue(o.Message)})})
	}
	if o.declined {
		v = v.With(declinedMember, domarkx.BoolValue(true))
	}
	return domarkx.Block{Type: domarkx.CodeBlock, Language: toolResult, Text: JSONLine(v)}
}

// parseOutcome parses the content of a tool-result block. If the block was edited and cannot be
// parsed, the outcome has no code.
func parseOutcome(text string) Outcome {
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

// interrupted returns the outcome of a call during which the program ended.
func interrupted(session string) Outcome {
	return Outcome{Code: domarkx.CodeInterrupted,
		Message: "the program ended during the call; git domarkx run --retry " + session + " makes it again"}
}

// firstDifference returns the index of the first block in now that does not run as in was, or
// len(now) if there is none.
func firstDifference(was, now []domarkx.Block) int {
	for i := range now {
		if i >= len(was) || !sameCode(was[i], now[i]) {
			return i
		}
	}
	return len(now)
}

// sameRunnable reports whether two versions of a message run the same code and calls.
func sameRunnable(a, b domarkx.Message) bool {
	return slices.EqualFunc(runnable(a), runnable(b), sameCode)
}
