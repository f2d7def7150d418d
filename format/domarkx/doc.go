// Package domarkx is the model of git-domarkx: sessions, their snapshots, and how two snapshots are
// merged.
//
// A [Document] is a session as its author wrote it: a [Header] and a list of [Message] values, each
// with its original bytes. A [Thread] is the same conversation as stored: every message has an [ID]
// that survives edits, and records which message it was inserted after and which of its revisions
// were replaced. [Merge] is therefore a pure function of two threads (commutative, associative and
// idempotent).
//
// JSON keeps its spelling: a [Value] preserves the order of members, the spelling of numbers, and
// strings that are not valid Unicode.
//
// The package does no input or output and uses only the standard library. All other packages of the
// module import it; it imports none of them.
package domarkx
