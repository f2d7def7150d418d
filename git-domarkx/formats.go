package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// checkFormat returns an error if no format has that name. others are further names that a command accepts.
func checkFormat(name string, others ...string) error {
	names := append(clidoc.FormatNames(), others...)
	if slices.Contains(names, name) {
		return nil
	}
	slices.Sort(names)
	return usagef("format %q is not known, expected one of %s", name, strings.Join(names, ", "))
}

// transcriptCodecs returns the codecs of the agents' transcripts.
func transcriptCodecs() []format.Codec {
	return slices.DeleteFunc(all.Codecs(), func(c format.Codec) bool { return !c.Records })
}

// transcriptNames returns the names of the formats of transcripts, or of those that can be written.
func transcriptNames(written bool) []string {
	var names []string
	for _, c := range transcriptCodecs() {
		if c.Write != nil || !written {
			names = append(names, c.Name)
		}
	}
	return names
}

// programs returns the names of the programs of formats, each with that of the format if it is another.
func programs(codecs []format.Codec) []string {
	return mapped(codecs, func(c format.Codec) string {
		if c.Program == "" {
			return c.Name
		}
		return c.Program + " (" + c.Name + ")"
	})
}

// inSentence returns names as they stand in a sentence.
func inSentence(names []string, last string) string {
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + " " + last + " " + names[end]
}
