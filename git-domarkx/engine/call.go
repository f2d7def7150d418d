package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
)

// The languages of the blocks that hold a call of a tool and what came of it.
const (
	toolCall   = "tool-call"
	toolResult = "tool-result"
)

// runnable returns the blocks of a message that may be run: tool calls, and code
// with a name. Which of the latter are run, the languages of the workspace decide.
func runnable(m domarkx.Message) []domarkx.Block {
	var blocks []domarkx.Block
	for _, b := range m.Content {
		if isRunnable(b) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func isRunnable(b domarkx.Block) bool {
	return b.Type == domarkx.CodeBlock && (b.Language == toolCall || b.Name != "" && b.Language != toolResult)
}

// sameCode reports whether two blocks run the same.
func sameCode(a, b domarkx.Block) bool {
	return a.Language == b.Language && a.Name == b.Name && a.Text == b.Text
}

// A step is one thing that an assistant's message does: a call of a tool, or code
// that is run.
type step struct {
	block  domarkx.Block
	at     int    // of the block in the content
	result string // the text of the block behind it that holds what came of it
	done   bool   // there is such a block
}

// steps returns what an assistant's message does, in order; runs tells the
// languages of code that its workspace runs. What others write is never run.
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
				s.result, s.done = next.Text, true
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

// parseCall reads the content of a tool-call block. What is wrong with it is a
// *domarkx.ToolError.
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

// callBlock returns the block that asks for a call.
func callBlock(r request) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: toolCall, Text: JSONLine(domarkx.ObjectValue(
		domarkx.Member{Name: "resource", Value: domarkx.StringValue(r.Resource)},
		domarkx.Member{Name: "tool", Value: domarkx.StringValue(r.Tool)},
		domarkx.Member{Name: "arguments", Value: r.Arguments}))}
}

// An Outcome is what came of a call.
type Outcome struct {
	OK      bool
	Result  domarkx.Value // what the tool returned, when OK
	Version string        // of the resource after the call, when OK
	Code    string        // why there is no result, else: of a domarkx.ToolError
	Message string
}

// failed returns the outcome of a call that an error ended.
func failed(err error) Outcome {
	var tool *domarkx.ToolError
	if errors.As(err, &tool) {
		return Outcome{Code: tool.Code, Message: tool.Message}
	}
	return Outcome{Code: domarkx.CodeBroken, Message: err.Error()}
}

// block returns the block in which an outcome is recorded.
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
	return domarkx.Block{Type: domarkx.CodeBlock, Language: toolResult, Text: JSONLine(v)}
}

// parseOutcome reads the content of a tool-result block. One that somebody wrote
// otherwise is an outcome without a code.
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
	return Outcome{OK: ok.IsTrue(), Result: result, Version: version.Text(), Code: code.Text(), Message: message.Text()}
}

// interrupted is the outcome of a call during which the program ended.
func interrupted(session string) Outcome {
	return Outcome{Code: domarkx.CodeInterrupted,
		Message: "the program ended during the call; git domarkx run --retry " + session + " makes it again"}
}

// firstDifference returns the first of the blocks of a message that runs another
// way than it did; the number of the blocks when none does.
func firstDifference(was, now []domarkx.Block) int {
	for i := range now {
		if i >= len(was) || !sameCode(was[i], now[i]) {
			return i
		}
	}
	return len(now)
}

// sameRunnable reports whether two texts of a message run the same.
func sameRunnable(a, b domarkx.Message) bool {
	return slices.EqualFunc(runnable(a), runnable(b), sameCode)
}
