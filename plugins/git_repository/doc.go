// Package gitrepository is the plugin of the type "git_repository": a Git repository
// with its work tree, the tools of package directory for the work tree, and tools that
// run git. The repository is cloned ("url"), a folder of the user's work tree
// ("path"), or a new one.
//
// # Versions
//
// A version holds the work tree, ignored files too, and .git: what is committed,
// staged and changed comes back as it was, and travels without the repository that it
// was cloned from. Left out of .git are locks, temporary objects and what belongs to
// a process or a machine. The index is kept without what it remembers of the machine's
// files (times, inodes) and what can be derived from the rest, so that equal states
// are equal versions; Git compares contents where it has no times.
//
// # Hostile repositories
//
// What is in .git may come from anybody, and Git runs programs that .git names. So:
//
//   - The tools for files do not reach .git. Loading a version runs no git.
//   - Before each use .git is inspected: it is a folder without symbolic links, its
//     objects are its own, and its config has no setting by which Git would run a
//     program or read another file and which cannot be overruled (inspect.go). Else
//     the tools of Git refuse, and say what to remove.
//   - What can be overruled is: hooks, the file system monitor, pagers, editors,
//     signing, credentials and submodules are off, external diffs and text conversions
//     too; where the work tree is, the plugin says. No protocol is allowed but when the
//     repository is cloned, then file, https and ssh.
//   - A clone, which may wait for another machine for ever, is supervised: neither git nor
//     ssh outlives this program.
//   - The user's and the system's configuration are only asked for the user's name.
package gitrepository
