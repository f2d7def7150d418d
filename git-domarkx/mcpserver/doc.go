// Package mcpserver lets other programs list, search and read the sessions and workspaces of a repository, by the Model Context
// Protocol (https://modelcontextprotocol.io). Nothing that it offers runs anything or extends trust. Texts of sessions are
// returned as data, in JSON beside the session, role and origin that they have.
package mcpserver
