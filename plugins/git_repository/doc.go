// Package gitrepository implements the resource type "git_repository": a Git repository with its
// work tree, the tools of package directory for the work tree, and tools that run git. The
// repository is cloned ("url"), a directory of the user's work tree ("path"), or a new one.
//
// # Versions
//
// A version contains the work tree, including ignored files, and .git. Commits, staged and
// unstaged changes are restored exactly, without the repository that was cloned. Versions omit
// locks, temporary objects and files of a process or machine. The index is stored without its
// cached data about files of the machine (times, inodes) and without data that can be derived, so
// that equal states are equal versions; Git compares contents where it has no times.
//
// # Hostile repositories
//
// The content of .git may come from anybody, and Git runs programs that .git names. Therefore:
//
//   - The tools for files do not reach .git. Loading a version runs no git.
//   - Before each use .git is inspected: it must be a directory without symbolic links, with its
//     own objects only, and its config must have no setting that makes Git run a program or read
//     another file unless the plugin can override it (inspect.go). Otherwise the Git tools
//     refuse to run and name the setting to remove.
//   - The plugin overrides all other such settings: hooks, the file system monitor, pagers,
//     editors, signing, credentials, submodules, external diffs and text conversions are off, and
//     the plugin sets the work tree. Only a clone may use a protocol: file, https or ssh.
//   - A clone, which may wait for another machine forever, is supervised: neither git nor ssh
//     outlives this program.
//   - Of the user's and the system's configuration only the user's name is read.
package gitrepository
