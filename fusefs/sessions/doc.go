// Package sessions implements the writable directory of sessions without FUSE: stored
// sessions as files, and on top of them the changes of programs until they are
// snapshots.
//
// A path that ends in .md and has no component that starts with a dot is a session.
// Every other path is a real file, link or directory that never becomes a session.
// Files with names that editors use for temporary files ([IsScratch]) end with the
// mount. The other files are drafts; an image among them is attached to the sessions
// that show it. Attached files of sessions show at paths that no other file has.
//
// A save is acknowledged when it is in the journal of drafts. It becomes a snapshot when
// the writes that belong to it have settled. A save is based on a [basis.Version]: the
// content that the saving process, or its group, last read under that name. The store
// merges if the session has changed since.
//
// The tree does an operation in steps, between which it asks the store and the journal. A
// step is done under the tree's lock, which only package monitor can take and release.
//
// An open file never changes under its readers: when a session changes elsewhere, or a
// save was merged, its name gets a new [File], as after a rename over it.
package sessions
