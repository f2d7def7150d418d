// Package toolcall reads and writes the blocks of a message that hold tool calls and their results,
// and says which blocks of a message can run.
package toolcall
