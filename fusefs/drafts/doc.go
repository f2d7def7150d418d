// Package drafts implements the journal of saves that are not in a snapshot yet. An
// acknowledged save survives a killed process and a power cut.
//
// Each process has its own [Journal], a directory of plain files that it keeps locked.
// [List] reads the journals of dead processes, and [Journal.Adopt] takes them over in
// place.
//
//	DIR/<journal>/lock             locked (flock) by the process that it names
//	DIR/<journal>/<number>.draft   one draft, with the key <journal>/<number>; numbers
//	                               rise, also above those of adopted journals
//
// A draft is a line "domarkx draft 1", a line with a JSON object, and the saved bytes.
// [Journal.Put] writes it to a temporary file, syncs and renames that, and syncs the
// directory.
package drafts
