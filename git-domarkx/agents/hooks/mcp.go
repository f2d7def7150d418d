package hooks

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// serverName is the name under which agents know this program's MCP server.
const serverName = "domarkx"

// serverCommand returns the command that starts the server. Others may have this program
// elsewhere.
func serverCommand(s agents.Scope, p agents.Place) []string {
	if s == agents.Project {
		return []string{"git", "domarkx", "mcp"}
	}
	return []string{p.Program, "mcp"}
}

// errOther means that an agent has another server of that name.
var errOther = errors.New("there is another MCP server with the name " + serverName + "; rename or remove it first")

// withServer returns the text of a settings file with the server.
func withServer(m agents.Servers, data []byte, command []string) ([]byte, error) {
	if m.Entry == nil {
		return tomlWithServer(data, command[0])
	}
	e, err := open(data)
	if err != nil {
		return nil, err
	}
	at := append(slices.Clone(m.Path), serverName)
	if old := e.Get(at...); old != nil {
		words := commandOfServer(old)
		if !isServer(words) {
			return nil, errOther
		}
		if i := slices.Index(words, "mcp"); i >= 0 {
			command = append(slices.Clone(command), words[i+1:]...)
			if slices.Equal(words, command) {
				return data, nil
			}
			// What the user added stays, such as arguments that offer only some sessions.
			for _, member := range m.Entry(command).Members() {
				if member.Name == "command" || member.Name == "args" {
					err = errors.Join(err, e.Set(member.Value, append(slices.Clone(at), member.Name)...))
				}
			}
			return e.Bytes(), err
		}
	}
	err = e.Set(m.Entry(command), at...)
	return e.Bytes(), err
}

// withoutServer returns the text of a settings file without the server.
func withoutServer(m agents.Servers, data []byte, mayRemove func(path ...string) bool) ([]byte, error) {
	if m.Entry == nil {
		return tomlWithoutServer(data)
	}
	if strings.TrimSpace(string(data)) == "" {
		return data, nil
	}
	e, err := jsontext.New(data)
	if err != nil {
		return nil, err
	}
	at := append(slices.Clone(m.Path), serverName)
	if old := e.Get(at...); old == nil || !isServer(commandOfServer(old)) {
		return data, nil
	}
	e.Remove(at...)
	for at = at[:len(at)-1]; len(at) > 0 && jsontext.IsBare(e.Get(at...)) && mayRemove(at...); at = at[:len(at)-1] {
		e.Remove(at...)
	}
	return e.Bytes(), nil
}

func commandOfServer(v *hujson.Value) []string {
	var words []string
	for _, part := range []*hujson.Value{jsontext.Member(v, "command"), jsontext.Member(v, "args")} {
		if word := jsontext.Text(part); word != "" {
			words = append(words, word)
		}
		for _, item := range jsontext.Items(part) {
			words = append(words, jsontext.Text(item))
		}
	}
	return words
}

// isServer reports whether a command starts this program's server, wherever the program is.
func isServer(command []string) bool {
	return len(command) > 1 && command[0] == "git" && command[1] == "domarkx" || len(command) > 0 && isProgram(command[0])
}

func isProgram(command string) bool {
	return strings.TrimSuffix(filepath.Base(command), ".exe") == "git-domarkx"
}
