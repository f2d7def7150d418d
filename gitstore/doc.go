// Package gitstore stores sessions in a Git repository: it converts the model of package domarkx
// into Git objects and refs, and back.
//
// A snapshot of a session is a commit on refs/domarkx/sessions/<name>. SPEC.md beside this file
// specifies its content byte for byte. Trees are fanned out so that appending a message writes
// O(log n) objects, and message k is found without reading the others.
//
// All changes go through [Store.Update]: objects become durable before refs move, refs move
// together and only if nobody else has moved them, and an error changes nothing. Reading
// needs no lock and writes only caches.
//
// This package makes no decisions about merges, names or the meaning of documents. It stores and
// returns content.
package gitstore
