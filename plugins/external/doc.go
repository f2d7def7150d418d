// Package external runs programs as plugins: an executable git-domarkx-plugin-<type> on PATH
// implements the resource type <type>. Host and program exchange JSON-RPC 2.0 messages, one
// per line, over standard input and output, as ../PROTOCOL.md specifies. Versions are passed
// in directories.
//
// # Trust
//
// A program on the user's PATH belongs to the user and has the user's rights. Its messages
// are validated all the same: a program that crashes, hangs, floods or sends invalid data
// causes a [domarkx.ToolError] with the code "broken", and all its processes are killed. Only
// absolute entries of PATH outside the work tree are searched, so that a repository cannot
// supply a plugin.
//
// # One request at a time
//
// A resource is used by one goroutine and has its own process, so that at most one request is
// outstanding. The package does not use a JSON-RPC library: an unexpected answer must be an
// error rather than a log line, and the program must not control memory use.
package external
