// Package domarkx is the model of git-domarkx and its promises: what a session
// is, what a snapshot of one is, and how two of them become one.
//
// A [Document] is a session as somebody wrote it: a [Header] and a list of
// [Message] values, each with the bytes that its author gave it. A [Thread] is
// the same conversation as the store keeps it: every message has an [ID] that
// survives edits, knows which message it was inserted after, and remembers which
// of its revisions were replaced, so that [Merge] is a pure function of two
// threads (commutative, associative and idempotent).
//
// JSON is kept as it was written: a [Value] remembers the order of its members,
// the spelling of its numbers, and strings that are no valid Unicode.
//
// The package does no input or output and needs nothing but the standard
// library; everything else in the module imports it, and it imports nothing of
// the module.
package domarkx
