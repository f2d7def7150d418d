// Package gitstore stores sessions and workspaces in a Git repository: it converts the model of package domarkx into Git
// objects and refs, and back.
//
// A snapshot of a session is a commit on refs/domarkx/sessions/<name>, and a version of a workspace one on
// refs/domarkx/workspaces/<name>. SPEC.md beside this file specifies their content byte for byte. A conversation is a tree of
// trees, so that appending a message writes O(log n) objects, and reading one message does not read the others.
//
// [Store.Update] makes all changes. Objects are durable before refs move. The refs of an update all move, or none does if
// another program has moved one of them. An update that returns an error changes no refs. Reading takes no lock and writes only
// caches, unless a ref's commit is missing ([Store.OnRollback]).
//
// The package stores and returns content. What a document means, and how two snapshots are merged, is decided elsewhere.
package gitstore
