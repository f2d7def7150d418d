// Package localshell is the plugin of the type "local_shell": a folder as package
// filesystem has it, in which commands can be run.
//
// # Processes
//
// A command runs below a supervisor, which is this program again (see [Supervise]).
// When the command ends, its time runs out, or this program dies, however it dies,
// everything that the command started is dead, whether it made itself a daemon or
// not. On Linux the supervisor is the first process of a PID namespace, with which
// the kernel kills all others; where namespaces are not to be had it is their
// subreaper and kills what it finds below itself. There, a command that is not confined,
// or on a kernel before 6.12, can kill its supervisor: then this program gets its processes and
// kills them, and the call fails with an error that says so. Against a command that kills
// this program too there is no help: the call is interrupted, as by any kill. On
// other systems only the command's process group is killed.
//
// # Confinement
//
// On Linux Landlock lets a command write only in its folder and in a temporary
// folder of its own; where the kernel has no Landlock the user is told so. In a folder
// that holds the repository's Git directory, commands can read that, but not write it:
// who writes there can make the user's own git run programs. The
// user's domarkx.sandbox turns it off. In a PID namespace a command sees no other
// processes, so neither their environment.
//
// In a mount namespace the Unix sockets outside the two folders are hidden from a command,
// and so are the directories in which programs usually bind them. Landlock refuses abstract
// sockets from its ABI 6 on, and the others from its ABI 9 on.
//
// # Environment
//
// A command gets PATH, USER and LOGNAME as they are, HOME and TMPDIR in a temporary
// folder that goes with it, LANG=C.UTF-8, SHELL, TERM=dumb, PWD, and the config's
// "env"; nothing else. Its standard input is empty.
package localshell
