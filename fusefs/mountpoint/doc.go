// Package mountpoint inspects and removes mounts of sessions, which may belong to other
// processes: it reads the mount table, finds the processes that use a mount, unmounts, and
// removes mounts whose server has died. It never sends a request to a mount that is served
// by the calling process.
package mountpoint

// FileSystem is the type of mounts of sessions in the mount table.
const FileSystem = "fuse.domarkx"

// Workspaces is the name, in a mount of sessions, of the directory with the workspaces: a
// mount of its own, or a symbolic link to one.
const Workspaces = "workspaces"
