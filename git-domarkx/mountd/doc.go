// Package mountd mounts a repository's sessions and serves the mount in a process of its
// own. That process leaves a note in the repository, and a socket on which commands ask it
// to store saves. By these notes the package finds the mounts of a repository, and ends
// them.
package mountd
