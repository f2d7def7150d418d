// Package cover mounts files of the disk over large files of a FUSE mount that show the
// same, so that programs read them as fast as any file of the disk: the kernel keeps
// FUSE's files in single pages, and asks the server for what it does not have.
//
// It never asks the mount that it covers: the process that serves it does that, and one
// that is killed while it waits for its own answer never ends. The place of a file is
// found by what the kernel has in memory, or not at all.
package cover
