// Package recording records the conversations of coding agents as they happen. A [Watcher]
// follows the agents' transcripts of one repository and has what was added imported. Agents'
// hooks notify it with [Notify]. One directory in the repository holds all that they share: which
// agents are recorded, the watcher's lock, and notifications that it has not read yet.
package recording
