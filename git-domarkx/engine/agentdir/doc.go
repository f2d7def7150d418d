// Package agentdir keeps the directories of programs that have more than documents, such as memory, scripts and
// screenshots, as versions of workspaces, so that the sessions imported from there can be linked to them.
package agentdir
