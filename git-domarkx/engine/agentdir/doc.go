// Package agentdir stores the directories of agents that have more than transcripts, such as
// memory, scripts and screenshots, as versions of workspaces. Sessions that are imported from such
// a directory can link these versions.
package agentdir
