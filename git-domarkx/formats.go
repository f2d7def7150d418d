package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/all"
)

// checkFormat says whether there is a format of that name.
func checkFormat(name string) error {
	var names []string
	for _, codec := range all.Codecs() {
		names = append(names, codec.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	slices.Sort(names)
	return usagef("format %q is not known, expected one of %s", name, strings.Join(names, ", "))
}
