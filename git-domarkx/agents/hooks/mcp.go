package hooks

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// serverName is the name under which agents know this program's MCP server.
const serverName = "domarkx"

// An mcpPlace is where an agent keeps its MCP servers.
type mcpPlace struct {
	files []string
	paths [][]string // of the object with the servers in each file; ["mcpServers"] if nil
	entry func(command []string) jsontext.Members
	toml  bool
}

// serverEntry returns the entry of the server as most agents have it.
func serverEntry(command []string) jsontext.Members {
	var args []jsontext.Item
	for _, arg := range command[1:] {
		args = append(args, arg)
	}
	return jsontext.Members{{Name: "command", Value: command[0]}, {Name: "args", Value: args}}
}

// serverCommand returns the command that starts the server. Others may have this program
// elsewhere.
func serverCommand(s Scope, p Place) []string {
	if s == Project {
		return []string{"git", "domarkx", "mcp"}
	}
	return []string{p.Program, "mcp"}
}

func serversIn(file func(s Scope, p Place) []string) func(s Scope, p Place) mcpPlace {
	return func(s Scope, p Place) mcpPlace { return mcpPlace{files: file(s, p), entry: serverEntry} }
}

// claudeMCP returns where Claude Code keeps servers: those of a user, also for one directory, in a
// file with its own state; those of a project in a file of the repository, which it asks about.
func claudeMCP(s Scope, p Place) mcpPlace {
	state := p.home(".claude.json")
	if dir := p.Environ("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		state = filepath.Join(dir, ".claude.json")
	}
	switch s {
	case Project:
		return mcpPlace{files: p.inMain(".mcp.json"), entry: serverEntry}
	case User:
		return mcpPlace{files: []string{state}, entry: serverEntry}
	}
	m := mcpPlace{entry: serverEntry}
	for _, tree := range p.Trees {
		m.files = append(m.files, state)
		m.paths = append(m.paths, []string{"projects", tree, "mcpServers"})
	}
	return m
}

func copilotMCP(_ Scope, p Place) mcpPlace {
	return mcpPlace{files: []string{p.or("COPILOT_HOME", ".copilot", "mcp-config.json")}, entry: func(command []string) jsontext.Members {
		return append(append(jsontext.Members{{Name: "type", Value: "local"}}, serverEntry(command)...), jsontext.Member{Name: "tools", Value: []jsontext.Item{"*"}})
	}}
}

func openCodeMCP(s Scope, p Place) mcpPlace {
	file := []string{p.or("XDG_CONFIG_HOME", ".config", filepath.Join("opencode", "opencode.json"))}
	if s == Project {
		file = p.inMain("opencode.json")
	}
	return mcpPlace{files: file, paths: [][]string{{"mcp"}}, entry: func(command []string) jsontext.Members {
		var words []jsontext.Item
		for _, word := range command {
			words = append(words, word)
		}
		return jsontext.Members{{Name: "type", Value: "local"}, {Name: "command", Value: words}, {Name: "enabled", Value: true}}
	}}
}

// path returns where the servers are in one of the files.
func (m mcpPlace) path(i int) []string {
	if m.paths == nil {
		return []string{"mcpServers"}
	}
	return m.paths[i]
}

// errOther means that an agent has another server of that name.
var errOther = errors.New("there is another MCP server with the name " + serverName + "; rename or remove it first")

// withServer returns the text of a settings file with the server.
func (m mcpPlace) withServer(data []byte, i int, command []string) ([]byte, error) {
	if m.toml {
		return tomlWithServer(data, command[0])
	}
	e, err := open(data)
	if err != nil {
		return nil, err
	}
	at := append(append([]string{}, m.path(i)...), serverName)
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
			return m.withCommand(e, at, command)
		}
	}
	err = e.Set(m.entry(command), at...)
	return e.Bytes(), err
}

// withCommand returns the text of a settings file with another command of the server. What the user added stays,
// such as arguments that offer only some sessions.
func (m mcpPlace) withCommand(e *jsontext.Edit, at, command []string) ([]byte, error) {
	for _, member := range m.entry(command) {
		if member.Name == "command" || member.Name == "args" {
			if err := e.Set(member.Value, append(slices.Clone(at), member.Name)...); err != nil {
				return nil, err
			}
		}
	}
	return e.Bytes(), nil
}

// withoutServer returns the text of a settings file without the server.
func (m mcpPlace) withoutServer(data []byte, i int, mayRemove func(path ...string) bool) ([]byte, error) {
	if m.toml {
		return tomlWithoutServer(data)
	}
	if strings.TrimSpace(string(data)) == "" {
		return data, nil
	}
	e, err := jsontext.New(data)
	if err != nil {
		return nil, err
	}
	at := append(append([]string{}, m.path(i)...), serverName)
	if old := e.Get(at...); old == nil || !isServer(commandOfServer(old)) {
		return data, nil
	}
	if err := e.Remove(at...); err != nil {
		return nil, err
	}
	for at = at[:len(at)-1]; len(at) > 0 && e.IsBare(e.Get(at...)) && mayRemove(at...); at = at[:len(at)-1] {
		if err := e.Remove(at...); err != nil {
			return nil, err
		}
	}
	return e.Bytes(), nil
}

func commandOfServer(v *jsontext.Value) []string {
	var words []string
	for _, part := range []*jsontext.Value{v.Get("command"), v.Get("args")} {
		items := part.Items()
		if part != nil && part.Kind == jsontext.String {
			items = []*jsontext.Value{part}
		}
		for _, word := range items {
			words = append(words, word.Text)
		}
	}
	return words
}

// isServer reports whether a command starts this program's server, wherever the program is.
func isServer(command []string) bool {
	if len(command) > 1 && command[0] == "git" && command[1] == "domarkx" {
		return true
	}
	return len(command) > 0 && isProgram(command[0])
}

func isProgram(command string) bool {
	return strings.TrimSuffix(filepath.Base(command), ".exe") == "git-domarkx"
}
