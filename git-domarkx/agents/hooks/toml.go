package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

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
		if after := tomlWithProgram(data, program); after != nil {
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

// tomlWithProgram returns the text of config.toml with another program in the table of the server, or nil if that has no
// command on a line of its own. What the user added to the table stays.
func tomlWithProgram(data []byte, program string) []byte {
	var after []byte
	inside := false
	for line := range bytes.Lines(data) {
		plain := bytes.TrimSpace(line)
		if len(plain) > 0 && plain[0] == '[' {
			inside = string(plain) == serverTable
		}
		if key, _, ok := bytes.Cut(plain, []byte("=")); ok && inside && string(bytes.TrimSpace(key)) == "command" {
			line = fmt.Appendf(nil, "command = %s%s", strconv.Quote(program), line[len(bytes.TrimRight(line, "\r\n")):])
		}
		after = append(after, line...)
	}
	if c, err := readTOML(after); err != nil || c.Servers[serverName].Command != program {
		return nil
	}
	return after
}

// tomlWithoutServer returns the text of config.toml without the table of the server. Comments behind
// the table's last line stay.
func tomlWithoutServer(data []byte) ([]byte, error) {
	c, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	if server, ok := c.Servers[serverName]; !ok || !isProgram(server.Command) {
		return data, nil
	}
	at, start, end := 0, -1, -1
	for line := range bytes.Lines(data) {
		plain := bytes.TrimSpace(line)
		switch {
		case start < 0 && string(plain) == serverTable:
			start, end = at, at+len(line)
		case start >= 0 && (len(plain) == 0 || plain[0] == '[' || plain[0] == '#'):
			return cutTOML(data, start, end)
		case start >= 0:
			end = at + len(line)
		}
		at += len(line)
	}
	if start < 0 {
		return nil, errors.New("the MCP server is not in a table of its own; remove it by hand")
	}
	return cutTOML(data, start, end)
}

func cutTOML(data []byte, start, end int) ([]byte, error) {
	after := append(bytes.Clone(data[:start]), data[end:]...)
	c, err := readTOML(after)
	if _, still := c.Servers[serverName]; err != nil || still {
		return nil, errors.New("the MCP server is not in a table of its own; remove it by hand")
	}
	return after, nil
}
