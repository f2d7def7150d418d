package mcp

import (
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
)

// NewLimited returns the plugin with other limits: the time of a call, the time until the server has listed its
// tools, and the bytes of a message. A program has little time to end.
func NewLimited(call, start time.Duration, message int) Plugin {
	return Plugin{limits{call: call, start: start, message: message, grace: 100 * time.Millisecond}}
}

// ToolsFrom returns the tools in a server's list, and the content of tools.json.
func ToolsFrom(listed []*sdk.Tool) ([]domarkx.Tool, []byte) {
	l := newToolList(listed, func(s string) string { return s }, func(string) {})
	return l.tools, l.text
}

// ResultFrom returns the result of a call for a server's answer. The directory is for attachments.
func ResultFrom(dir string, raw []byte) (domarkx.Result, error) {
	r := &resource{env: domarkx.Env{Dir: dir, Redact: func(s string) string { return s }}}
	return r.result(raw)
}

// MaxMessage is the limit of a message in bytes.
const MaxMessage = maxMessage

// OnlyLoopback refuses connections to other machines.
var OnlyLoopback = onlyLoopback
