// Package process runs programs under a supervisor, so that no process that they start
// outlives them or this program. A [Runner] starts programs that another plugin talks with, and
// runs commands confined to directories; [Run] runs any command to its end.
//
// # Supervision
//
// The supervisor is this program again (see [Supervise]). When the command ends, ctx ends
// or this program dies, in whatever way, every process that the command started is
// killed, daemons included. On Linux the supervisor is the first process of a PID
// namespace, and the kernel kills all others with it. Where this user may not create
// namespaces, the supervisor is a subreaper and kills its descendants. In that case a
// command that is not confined, or that runs on a kernel before 6.12, can kill its
// supervisor. This program then inherits the processes, kills them, and the call
// returns an error that says so. A command that also kills this program escapes: the call
// is then interrupted, as by any kill. On other systems only the command's process group
// is killed.
//
// # Confinement
//
// On Linux, Landlock restricts the files that a confined command can write to
// [Command].Writable. In a namespace, all other mounts are read-only as well, and
// [Command].Sealed is read-only inside of writable directories, [Command].Hidden looks empty, and
// System V IPC objects end with the command. A seccomp filter denies the kernel's keyrings. Root keeps no capability with
// which it could undo that. A command in a PID namespace sees no other processes and therefore not
// their environment.
//
// # Limits
//
// A command that has more than [Command].Processes, or uses more than [Command].Memory, is killed by
// its supervisor with everything that it started. The supervisor looks at its descendants some 50
// times a second, and counts memory that they share once. Cgroups would be exact, but most users may
// make none, root in a container neither, and RLIMIT_NPROC does not hold for root.
package process
