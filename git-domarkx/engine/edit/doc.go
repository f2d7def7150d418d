// Package edit computes the next state of a session from a document: which messages are unchanged,
// changed, new or removed, and which ids, links and headers they have.
package edit
