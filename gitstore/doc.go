// Package gitstore keeps sessions in a Git repository: it turns the model of
// package domarkx into Git objects and refs, and back.
//
// A snapshot of a session is one commit on refs/domarkx/sessions/<name>; SPEC.md
// beside this file says what is in it, byte for byte. Trees are fanned out so
// that appending a message writes O(log n) objects and message k is reached
// without reading the others.
//
// Everything that changes the repository goes through [Store.Update]: objects are
// durable before refs move, refs move all together and only when nobody else
// moved them meanwhile, and an error leaves nothing behind. Reading needs no
// lock, and writes nothing but a cache of the list of sessions.
//
// Deciding (what to merge, what to name, what a document means) is not done
// here; this package stores what it is given and says what is stored.
package gitstore
