// Package mountd mounts a repository's sessions, and serves the mount in a process of its own. That process writes a note in the
// repository and listens on a socket, by which commands ask it to store saves. From these notes the package knows the mounts of a
// repository, and unmounts them.
package mountd
