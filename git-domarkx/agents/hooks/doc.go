// Package hooks installs this program's hooks in the settings of coding agents, and removes them.
// It edits settings as text, so that all else in them keeps its bytes. It never answers a question
// of an agent in the user's place.
//
// People comment and order these files. So entries are inserted at the end of their container in the
// file's own style, and a [Record] on this machine has the bytes before. Uninstalling restores them if
// nobody has changed the file since; otherwise it removes only this program's entries.
package hooks
