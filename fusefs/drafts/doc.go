// Package drafts is the journal of what was saved but is in no snapshot yet: it
// makes a save survive a killed process and a power cut before it is
// acknowledged.
//
// Each process that saves has a [Journal] of its own, a folder of plain files
// that it holds locked while it lives. What a dead process left behind is read
// by [List] and taken over, where it is, by [Journal.Adopt].
//
//	DIR/<journal>/lock             held (flock) while the process lives that it names
//	DIR/<journal>/<number>.draft   one draft, with the key <journal>/<number>; numbers
//	                               rise, also above those of the journals taken over
//
// A draft is a line "domarkx draft 1", a line with a JSON object, and the saved
// bytes as they are. It is written aside, synced and renamed, and the folder is
// synced, before [Journal.Put] returns.
package drafts
