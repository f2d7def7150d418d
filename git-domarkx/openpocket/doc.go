// Package openpocket stores the directories of programs such as OpenPocket, which have more than transcripts: memory,
// scripts and screenshots. Each becomes a version of a workspace, which the sessions that are imported from the directory
// can link.
package openpocket
