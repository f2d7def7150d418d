// Package domarkx is the model of git-domarkx: sessions, their snapshots, and how two snapshots are
// merged.
//
// A [Document] is a session as its author wrote it: a [Header] and a list of [Message] values, each
// with its original bytes. A [Thread] is the same conversation as stored: every message has an [ID]
// that survives edits, and records which message it was inserted after and which of its revisions
// were replaced. [Merge] is therefore a pure function of two threads (commutative, associative and
// idempotent).
//
// JSON keeps its spelling: see package jsonvalue.
//
// The package does no input or output. All other packages of the module import it; it imports only
// what it is made of.
package domarkx
