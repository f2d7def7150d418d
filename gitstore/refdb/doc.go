// Package refdb reads and changes references of Git's files backend.
//
// Reading starts no process and takes no lock. It looks for a loose reference first and
// then in packed-refs, an order that is correct beside a concurrent git pack-refs
// (gitrepository-layout(5), git-pack-refs(1)).
//
// Only git update-ref changes references, so that Git's locks, hooks and reflogs work as
// usual. In addition, this program keeps two things in the directory domarkx of the
// repository's common directory (mode 0700):
//
//   - lock: a file that every writing process of this program holds with flock(2), so that
//     one operation can read, decide and write without interference.
//   - journal/: a file for each unfinished change. It lists the references with their old
//     and new values. This process and the git that it started hold it with flock(2); a
//     journal file that can be locked was left by dead processes. The next holder of the
//     lock finishes or undoes its change and removes the lock files of the dead git.
//
// A journal file is a JSON object and a newline:
//
//	{"format":1, "pid":123, "reason":"…", "changes":[{"ref":"…","old":"…","new":"…"}]}
//	{"format":1, "pid":123, "prefixes":["refs/domarkx-remotes/origin/"], "files":["shallow.lock"]}
//
// The second form does not list values; it says where a git that moves references itself (git
// fetch) may leave lock files. A file that cannot be parsed was truncated before git was
// started, and is removed.
//
// While a reference is replaced by a directory of the same name, refs/domarkx/moving/ID
// protects its object from git gc for a moment.
package refdb
