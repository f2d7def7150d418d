// Package toolcall reads and writes the blocks of a message that contain tool calls and their
// results, and determines which blocks of a message can run.
package toolcall
