// Package refdb reads and changes references of Git's files backend.
//
// Reading starts no process and takes no lock: a loose reference is looked for
// first, then packed-refs, in the order that makes a concurrent git pack-refs
// harmless (gitrepository-layout(5), git-pack-refs(1)).
//
// Changing is done by git update-ref alone, so that Git's own locks, hooks and
// reflogs hold. Around it stand two things of this program, both in the directory
// domarkx of the repository's common directory, mode 0700:
//
//   - lock: a file that every changing process holds with flock(2), so that one
//     operation reads, decides and writes without another between.
//   - journal/: one file for each change under way. It names the references with
//     their old and new values, and is held with flock(2) by this process and by the
//     git that it started, so that a journal file which can be locked belongs to
//     nobody alive. Whoever takes the lock next finishes or undoes what such a file
//     names, and removes the lock files that the dead git left.
//
// A journal file is a JSON object and a newline:
//
//	{"format":1, "pid":123, "reason":"…", "changes":[{"ref":"…","old":"…","new":"…"}]}
//	{"format":1, "pid":123, "prefixes":["refs/domarkx-remotes/origin/"], "files":["shallow.lock"]}
//
// While a name gives way to a folder of that name, refs/domarkx/moving/ID keeps the
// object from git gc; it is there for that moment only.
//
// The second kind promises nothing about values; it says where a git that moves
// references by itself (git fetch) may leave lock files. A file that does not
// parse was cut off before git was started, and is removed.
package refdb
