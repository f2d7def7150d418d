// Package external makes programs into plugins: an executable
// git-domarkx-plugin-<type> on PATH is the resource type <type>. They talk JSON-RPC
// 2.0, a line a message, over standard input and output, as PROTOCOL.md in the
// folder above says; versions pass through folders.
//
// # Trust
//
// A program on the user's PATH is the user's own, and may do what the user may. It
// is not believed, though: what it says is checked, and what breaks, hangs, floods or
// lies is a [domarkx.ToolError] of the code "broken", with all its processes killed.
// Only absolute entries of PATH count, and none below the work tree, so that no
// repository brings a plugin along.
//
// # One request at a time
//
// A resource has one goroutine and its own process, so that there is never more than
// one request on its way. That is why the conversation is not left to a library: an
// answer that nobody asked for is to be an error and no log line, and memory use is
// not up to the program.
package external
