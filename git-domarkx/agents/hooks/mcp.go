package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
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

// serverTable is the header of the table of the server in Codex's config.toml.
const serverTable = "[mcp_servers." + serverName + "]"

// A codexConfig has the MCP servers of config.toml.
type codexConfig struct {
	Servers map[string]struct {
		Command string `toml:"command"`
	} `toml:"mcp_servers"`
}

func readTOML(data []byte) (codexConfig, error) {
	var c codexConfig
	if _, err := toml.Decode(string(data), &c); err != nil {
		var bad toml.ParseError
		if errors.As(err, &bad) {
			return c, &jsontext.SyntaxError{Line: bad.Position.Line, Column: max(bad.Position.Col, 1), Msg: bad.Message}
		}
		return c, err
	}
	return c, nil
}

// tomlWithServer returns the text of config.toml with the server, in a table at its end.
func tomlWithServer(data []byte, program string) ([]byte, error) {
	c, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	if server, ok := c.Servers[serverName]; ok {
		switch {
		case server.Command == program:
			return data, nil
		case !isProgram(server.Command):
			return nil, errOther
		}
		start, end := tomlTable(data)
		table := commandLine().ReplaceAllLiteral(data[start:end], fmt.Appendf(nil, "command = %s", strconv.Quote(program)))
		after := slices.Concat(data[:start], table, data[end:]) // what the user added to the table stays
		if c, err := readTOML(after); err == nil && c.Servers[serverName].Command == program {
			return after, nil
		}
		if data, err = tomlWithoutServer(data); err != nil {
			return nil, err
		}
	}
	text := fmt.Sprintf("%s\ncommand = %s\nargs = [\"mcp\"]\n", serverTable, strconv.Quote(program))
	if bytes.Contains(data, []byte("\r\n")) {
		text = string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte("\r\n")))
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		text = "\n" + text
	}
	after := append(bytes.Clone(data), text...)
	if c, err = readTOML(after); err != nil || c.Servers[serverName].Command != program {
		return nil, errors.New("the MCP server cannot be added; is mcp_servers an inline table? Add it by hand")
	}
	return after, nil
}

var commandLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*command[ \t]*=[^\r\n]*`) })

// tomlTable returns where the lines of the server's table begin and end, without comments behind its last line; both are 0
// if it has no table of its own.
func tomlTable(data []byte) (start, end int) {
	at := 0
	for line := range bytes.Lines(data) {
		plain := bytes.TrimSpace(line)
		switch {
		case end == 0 && string(plain) == serverTable:
			start, end = at, at+len(line)
		case end > 0 && bytes.HasPrefix(plain, []byte("[")):
			return start, end
		case end > 0 && len(plain) > 0 && plain[0] != '#':
			end = at + len(line)
		}
		at += len(line)
	}
	return start, end
}

// tomlWithoutServer returns the text of config.toml without the table of the server.
func tomlWithoutServer(data []byte) ([]byte, error) {
	c, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	if server, ok := c.Servers[serverName]; !ok || !isProgram(server.Command) {
		return data, nil
	}
	start, end := tomlTable(data)
	after := slices.Concat(data[:start], data[end:])
	c, err = readTOML(after)
	if _, still := c.Servers[serverName]; err != nil || still {
		return nil, errors.New("the MCP server is not in a table of its own; remove it by hand")
	}
	return after, nil
}
