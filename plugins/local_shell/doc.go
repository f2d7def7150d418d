// Package localshell implements the resource type "local_shell": a directory like that of
// package filesystem, in which commands can be run.
//
// Package process supervises the commands: when a command ends, times out, or this program
// dies, every process that the command started is killed.
//
// # Confinement
//
// On Linux a command can write only to its directory and to a temporary directory of its
// own. If the kernel has no Landlock, the user is warned. If the directory contains the
// repository's Git directory, commands can read that but not write it: by writing to it,
// they could make the user's own git run programs. The setting domarkx.sandbox turns
// confinement off.
//
// In namespaces a command does not see this program's own state, so it cannot hold its locks, and
// System V IPC objects and POSIX message queues end with it. No confined command can use the
// kernel's keyrings, which would outlive it.
//
// In a mount namespace the Unix sockets outside the two directories are hidden from a command,
// and so are the directories in which programs usually bind them. Landlock refuses abstract
// sockets from its ABI 6 on, and the others from its ABI 9 on.
//
// # Environment
//
// A command gets PATH, USER and LOGNAME unchanged, HOME and TMPDIR in a temporary
// directory that is removed afterwards, LANG=C.UTF-8, SHELL, TERM=dumb, PWD, and the
// config's "env"; nothing else. Its standard input is empty.
package localshell
