// Package hooks installs this program's hooks in the settings of coding agents, and removes them.
// It edits settings as text, so that all else in them keeps its bytes. It never answers a question
// of an agent in the user's place.
package hooks
