// Package mcp implements the resource type "mcp": the tools of a Model Context Protocol
// server (https://modelcontextprotocol.io/specification), and a directory in which it
// works.
//
// # Server
//
// A server is a program that is spoken to on its standard input and output, or a URL
// (streamable HTTP). It is started or contacted when its tools are first needed, and ended
// when the resource is closed. A program is confined like a command of local_shell. It
// gets no capabilities of a client: no sampling, elicitation or roots.
//
// A URL must be allowed by the user. Plain HTTP is only spoken to this machine, redirects
// are refused, and the headers of the config are sent to that URL alone.
//
// # Limits
//
// Everything that a server sends is hostile: messages, their number, and what else it
// writes are bounded. A call that takes longer than [CallTimeout] is cancelled, and the
// program is killed.
//
// # Version
//
// A version holds the tools in the file tools.json, and the directory in files. The tools
// are those that the server listed last, or those of the version loaded last.
package mcp
