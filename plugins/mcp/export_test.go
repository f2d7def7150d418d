package mcp

import "time"

// NewLimited returns the plugin with other limits: the time of a call, the time until the server has listed its
// tools, and the bytes of a message.
func NewLimited(call, start time.Duration, message int) Plugin {
	return Plugin{limits{call: call, start: start, message: message}}
}

// MaxMessage is the limit of a message in bytes.
const MaxMessage = maxMessage

// OnlyLoopback refuses connections to other machines.
var OnlyLoopback = onlyLoopback
