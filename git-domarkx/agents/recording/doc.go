// Package recording records the conversations of coding agents as they happen. A [Watcher]
// follows the agents' transcripts of one repository and imports the new messages. Agents'
// hooks notify it with [Notify]. One directory in the repository holds all that they share: which
// agents are recorded, the watcher's lock, and notifications that it has not read yet.
//
// The transcript is the record: no agent guarantees that it is complete when a hook runs, and hooks
// can be missing. A hook decides when the watcher looks, and not where: the watcher reads only
// regular files in the agent's own directory whose names fit transcripts. No clocks of different
// processes are compared.
package recording
