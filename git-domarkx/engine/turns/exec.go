package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins"
)

// An ExecRequest is a tool call by the user.
type ExecRequest struct {
	Name     string
	Resource string
	Tool     string
	Pairs    []string         // KEY=VALUE; these override Args
	Args     *jsonvalue.Value // an object; nil for none
	Command  []string         // when not nil, a command for the only run_command tool; replaces the fields above
	Approve  trust.Consent    // see [RunRequest]
}

// runCommand is the tool that runs the words after -- on the command line.
const runCommand = "run_command"

// Exec runs a tool call and appends it, with its result, to the session as an assistant message that is linked to the new
// workspace version. If the arguments are invalid, it returns a *domarkx.ToolError and appends nothing.
func (m *Manager) Exec(ctx context.Context, r ExecRequest) (report CallResult, err error) {
	info, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return CallResult{}, err
	}
	b, err := m.open(ctx, m.trust.Gate(r.Approve), trust.Session{Info: info})
	if err != nil {
		return CallResult{}, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	if err := b.prepare(ctx, r.Name, false); err != nil {
		return CallResult{}, err
	}
	asked, err := b.request(ctx, r)
	if err != nil {
		return CallResult{}, err
	}
	if asked.Call, err = b.live.Defaults(ctx, asked.Resource, asked.Call); err != nil {
		return CallResult{}, err
	}
	_, committer, err := m.env.Identity(ctx)
	if err != nil {
		return CallResult{}, err
	}
	block := toolcall.NewBlock(asked)
	t := callTarget{operation: "exec", Call: journal.Call{Session: r.Name, Message: domarkx.NewID(0, committer.When), Block: block, Appends: true,
		Resource: asked.Resource, Tool: asked.Tool}}
	return b.perform(ctx, t, b.permit)
}

// request returns the call that the user asked for.
func (b *openWorkspace) request(ctx context.Context, r ExecRequest) (toolcall.Request, error) {
	if r.Command != nil {
		types, err := b.m.env.Workspaces.Types(ctx) // without the tools that resources list themselves, so that no server starts
		if err != nil {
			return toolcall.Request{}, err
		}
		runs := func(t domarkx.Tool) bool { return t.Name == runCommand }
		var able []string
		for _, spec := range b.live.Specs() {
			if slices.ContainsFunc(types, func(t plugins.Type) bool { return t.Name == spec.Type && slices.ContainsFunc(t.Tools, runs) }) {
				able = append(able, spec.ID)
			}
		}
		if len(able) == 0 {
			return toolcall.Request{}, &domarkx.ToolError{Code: domarkx.CodeNoResource, Message: "no resource of the workspace runs commands, which -- COMMAND needs"}
		}
		if len(able) > 1 {
			return toolcall.Request{}, &domarkx.ToolError{Code: domarkx.CodeNoResource, Message: fmt.Sprintf(
				"-- COMMAND needs exactly one resource that runs commands, and there are %d: %s; name it: git domarkx exec %s RESOURCE %s command=…", len(able), strings.Join(able, ", "), refname.Argument(r.Name), runCommand)}
		}
		return toolcall.Request{Resource: able[0], Call: domarkx.Call{Tool: runCommand, Arguments: jsonvalue.ObjectOf("command", commandLine(r.Command))}}, nil
	}
	arguments := jsonvalue.ObjectValue()
	if r.Args != nil {
		arguments = *r.Args
	}
	tools, err := b.toolsOf(ctx, r.Resource)
	if err != nil {
		return toolcall.Request{}, err
	}
	var schema jsonvalue.Value
	for _, t := range tools {
		if t.Name == r.Tool {
			schema = t.Schema
		}
	}
	for _, pair := range r.Pairs {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return toolcall.Request{}, fmt.Errorf("argument %q: %w, expected KEY=VALUE", pair, domarkx.ErrInvalid)
		}
		value, err := argument(schema, key, text)
		if err != nil {
			return toolcall.Request{}, err
		}
		arguments = arguments.With(key, value)
	}
	asked := toolcall.Request{Resource: r.Resource, Call: domarkx.Call{Tool: r.Tool, Arguments: arguments}}
	return asked, b.live.CheckCall(ctx, asked.Resource, asked.Call)
}

// argument converts text that the user typed to the value of an argument. The text is a string if
// the tool's schema allows one, and JSON otherwise.
func argument(schema jsonvalue.Value, key, text string) (jsonvalue.Value, error) {
	kinds := schemaTypes(transcript.Get(schema, "properties", key))
	if len(kinds) == 0 || slices.Contains(kinds, "string") {
		return jsonvalue.StringValue(text), nil
	}
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		return v, &domarkx.ToolError{Code: domarkx.CodeInvalid, Message: fmt.Sprintf("/arguments/%s: %q is no %s", key, text, strings.Join(kinds, " or "))}
	}
	return v, nil
}

// schemaTypes returns the types that a schema allows, from its "type" or those of its
// alternatives. It returns none if the schema allows any type.
func schemaTypes(schema jsonvalue.Value) []string {
	if kind, ok := schema.Get("type"); ok {
		if kind.Kind() == jsonvalue.String {
			return []string{kind.Text()}
		}
		var kinds []string
		for _, item := range kind.Items() {
			kinds = append(kinds, item.Text())
		}
		return kinds
	}
	var kinds []string
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, alternative := range transcript.Get(schema, keyword).Items() {
			found := schemaTypes(alternative)
			if len(found) == 0 {
				return nil
			}
			kinds = append(kinds, found...)
		}
	}
	return kinds
}

// commandLine quotes words for a shell and joins them. A single word is already a command line.
func commandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.Trim(word, plain) != "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plain are the characters that shells take as they are.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,+@%"
