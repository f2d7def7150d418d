// Package unnamed makes files that have no name until they are complete, so that a process
// that is killed leaves nothing behind and nobody takes a half-written file for a whole one.
package unnamed
