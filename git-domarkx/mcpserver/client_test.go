package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A client is connected to a server for a repository.
type client struct {
	*enginetest.Clone
	*sdk.ClientSession
	warnings []error
}

// serverOf returns a server for a repository, not connected to anything.
func serverOf(c *enginetest.Clone) *mcpserver.Server {
	return &mcpserver.Server{Sessions: c.SessionManager, Store: c.Store, Turns: turns.New(c.SessionManager, trust.New(c.Store, c.Env), c.Store, c.Env), Version: "v1"}
}

// connect starts a server for a repository, which change may change, and connects to it.
func connect(c *enginetest.Clone, change func(*mcpserver.Server)) *client {
	c.T.Helper()
	result := &client{Clone: c}
	s := serverOf(c)
	s.Warn = func(err error) { result.warnings = append(result.warnings, err) }
	if change != nil {
		change(s)
	}
	server, err := s.New()
	if err != nil {
		c.T.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	serving, err := server.Connect(c.T.Context(), there, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { serving.Wait() })
	if result.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(c.T.Context(), here, nil); err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { result.ClientSession.Close() })
	return result
}

func writing(s *mcpserver.Server) { s.Write = true }

func only(pattern string) func(*mcpserver.Server) {
	return func(s *mcpserver.Server) { s.Write, s.Pattern = true, pattern }
}

// arguments are those of a call.
type arguments map[string]any

// try calls a tool. It returns the result, or the error that the tool or the protocol reports.
func (c *client) try(tool string, a any) (*sdk.CallToolResult, error) {
	c.T.Helper()
	r, err := c.CallTool(c.T.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
	if err == nil && r.IsError {
		err = fmt.Errorf("%s", r.Content[0].(*sdk.TextContent).Text)
	}
	return r, err
}

// call calls a tool and decodes its result. Out must have all of its members.
func (c *client) call(tool string, a arguments, out any) *sdk.CallToolResult {
	c.T.Helper()
	r, err := c.try(tool, a)
	if err != nil {
		c.T.Fatalf("%s %v: %v", tool, a, err)
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		c.T.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		c.T.Fatalf("%s: %v in %s", tool, err, data)
	}
	return r
}

// refuses checks that a call fails with an error that contains a text.
func (c *client) refuses(tool string, a any, want string) {
	c.T.Helper()
	if r, err := c.try(tool, a); err == nil || !strings.Contains(err.Error(), want) {
		c.T.Errorf("%s %.200v: got %+v, %v, expected %q", tool, a, r, err, want)
	}
}

// copies makes other sessions of a session: prefix0, prefix1 and so on.
func (c *client) copies(session, prefix string, n int) {
	c.T.Helper()
	tip := c.Tip(session).ID
	var refs strings.Builder
	for i := range n {
		fmt.Fprintf(&refs, "create refs/domarkx/sessions/%s%d %s\n", prefix, i, tip)
	}
	cmd := exec.Command("git", "-C", c.Dir, "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(refs.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		c.T.Fatalf("%v\n%s", err, out)
	}
}

// The results of the tools, as clients see them.
type (
	list struct {
		Sessions []struct {
			Session, URI    string
			Messages        int
			Updated, Origin string
			Snippet, Title  string
			ActiveAt        string `json:"active_at"`
		}
		Total, Next int
	}
	messages struct {
		Session, Snapshot, Origin string
		Total                     int
		Messages                  []message
		Next                      *struct{ From, Offset int }
	}
	message struct {
		Index           int
		Message         string
		URI, Role, Date string
		Model, Text     string
		Offset, Bytes   int
		Version         string `json:"workspace_version"`
	}
	matches struct {
		Matches []struct {
			Session                   string
			Index                     int
			Message                   string
			URI, Snapshot, Role, Date string
			Model, Origin, Snippet    string
		}
		More bool
		Next int
	}
	versions struct {
		Workspace string
		Versions  []struct {
			Version, Date, Operation, Subject, Session string
			Message                                    string `json:"message_id"`
			Resources                                  []string
		}
		Next int
	}
	file struct {
		Workspace, Version, Path, Type string
		Bytes                          int
		Text, Base64                   string
		Entries                        []struct {
			Name, Type string
			Bytes      int
		}
		Next int
	}
	difference struct {
		A, B, Text string
		Next       int
	}
	written struct {
		Session, Snapshot, URI string
		Messages               int
	}
)
