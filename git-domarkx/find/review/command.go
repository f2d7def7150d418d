package review

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// commandsIn returns the commands that message k ran.
func commandsIn(msg domarkx.Message, k int) (all []Command) {
	for i, b := range msg.Content {
		if b.Type != domarkx.CodeBlock {
			continue
		}
		var result *domarkx.Block
		if i+1 < len(msg.Content) && msg.Content[i+1].Type == domarkx.CodeBlock && msg.Content[i+1].Language == toolcall.ResultLanguage {
			result = &msg.Content[i+1]
		}
		text := ""
		switch {
		case b.Language == toolcall.Language:
			call, err := toolcall.Parse(b.Text)
			if err != nil {
				continue
			}
			text = commandOf(call.Arguments)
		case b.Language != toolcall.ResultLanguage && b.Name != "" && result != nil: // a block of code that ran
			text = strings.TrimSpace(b.Text)
		}
		if text != "" {
			c := Command{Index: k, Text: text, Status: "no result"}
			if result != nil {
				c.Exit, c.Status = exitOf(toolcall.ParseOutcome(result.Text))
			}
			all = append(all, c)
		}
	}
	return all
}

// editing are values of the argument "command" that name a step of an editor's tool.
var editing = []string{"view", "create", "str_replace", "insert", "undo_edit"}

// commandOf returns the command line in a call's arguments, or "".
func commandOf(arguments jsonvalue.Value) string {
	for _, name := range []string{"command", "cmd"} {
		v, ok := arguments.Get(name)
		if !ok {
			continue
		}
		if v.Kind() == jsonvalue.String {
			text := strings.TrimSpace(v.Text())
			if _, ok := arguments.Get("path"); ok && slices.Contains(editing, text) {
				return ""
			}
			return text
		}
		var words []string
		for _, item := range v.Items() {
			words = append(words, item.Text())
		}
		if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") { // sh -c COMMAND
			return words[2]
		}
		return strings.Join(words, " ")
	}
	return ""
}

// exitLine is a line in which an agent reports an exit status.
var exitLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^\s*(?:exit code:? |process exited with code |exit status:? |command exited with code )(-?\d{1,10})\b`)
})

// exitOf returns the exit status in a result, if there is one, and what the result says.
func exitOf(o toolcall.Outcome) (*int, string) {
	text, codes := o.Message, []string{}
	if o.OK {
		text = textOf(o.Result)
		for _, name := range []string{"exit_code", "exitCode", "exit_status"} {
			if v, ok := o.Result.Get(name); ok && v.Kind() == jsonvalue.Number {
				codes = append(codes, v.Text())
			}
		}
	}
	head, tail := text[:min(len(text), 300)], text[max(0, len(text)-300):]
	for _, part := range []string{head, tail} {
		if found := exitLine().FindStringSubmatch(part); found != nil {
			codes = append(codes, found[1])
		}
	}
	if o.OK && !strings.HasPrefix(strings.TrimSpace(text), "Command running in background") && !strings.Contains(head, "Process running with session ID") {
		codes = append(codes, "0")
	}
	for _, text := range codes {
		switch code, err := strconv.Atoi(text); {
		case err == nil && code == 0:
			return &code, "ok"
		case err == nil:
			return &code, "failed"
		}
	}
	switch {
	case o.OK:
		return nil, "ok"
	case o.Code == "" || o.Code == domarkx.CodeFailed:
		return nil, "failed"
	}
	return nil, o.Code
}

// textOf returns the output in the result of a command.
func textOf(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	for _, name := range []string{"output", "stdout", "content"} {
		if member, ok := v.Get(name); ok && member.Kind() == jsonvalue.String {
			return member.Text()
		}
	}
	return ""
}
