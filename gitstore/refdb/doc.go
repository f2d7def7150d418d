// Package refdb reads and changes references, in Git's files backend and in its reftable backend.
//
// In the files backend, reading starts no process and takes no lock. It looks for the loose reference first and then in packed-refs. In this
// order, a concurrent git pack-refs hides no reference, because it writes packed-refs before it removes loose references
// (gitrepository-layout(5), git-pack-refs(1)).
//
// In the reftable backend, git for-each-ref reads the references. What it printed stays valid as long as tables.list, which Git
// replaces with each change, has the same content (gitformat-reftable(5)). A git that this program starts to change references
// seldom merges tables: while there are few of them, that costs more than it saves (reftable.geometricFactor in git-config(1)).
// What it has written need not be read again, by a later process either, until the list changes ([Refs.SyncTables]).
//
// Only git update-ref changes references, so that Git's locks, hooks and reflogs work as usual. In addition, this program
// keeps two things in its state directory, which is domarkx in the repository's common directory and has the mode 0700:
//
//   - lock is the repository's lock. A process of this program holds it with flock(2) while it reads references, decides
//     and changes them, so that no other process of this program can change them in between.
//   - journal/ contains a file for each unfinished change, with the references and their old and new values. The process
//     that changes them and the git that it started hold the file locked with flock(2). So a journal file that can be
//     locked belongs to processes that have ended. The next process that takes the repository's lock finishes or undoes
//     the change, and removes the lock files that the dead git left.
//
// A journal file is a JSON object and a newline, in one of two forms:
//
//	{"format":1, "pid":123, "reason":"…", "changes":[{"ref":"…","old":"…","new":"…"}]}
//	{"format":1, "pid":123, "prefixes":["refs/domarkx-remotes/origin/"], "files":["shallow.lock"]}
//
// The second form is for a git that changes references itself, such as git fetch: it lists where that git may leave lock
// files. A file that cannot be parsed is removed: its process was killed while it wrote the file, before it started git.
//
// A change may remove a reference and create another one of which the former name is a directory, or the reverse. Git does
// not do that in one transaction. Between the two, refs/domarkx/moving/ID protects the object of the removed reference
// from git gc.
package refdb
