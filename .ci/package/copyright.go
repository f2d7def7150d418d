// Command copyright prints the licences of everything that is linked into a program, in Debian's machine-readable format:
// go run .ci/package/copyright.go PROGRAM
//
// See https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/. It fails for a library whose licence it does not
// recognise, so that no release is made without one; so does a library under the GPL alone.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kinds are the licences by the words that only they have, the more special ones first.
var kinds = []struct{ words, name string }{
	{"apache license", "Apache-2.0"},
	{"mozilla public license", "MPL-2.0"},
	{"neither the name", "BSD-3-Clause"},
	{"redistributions in binary form", "BSD-2-Clause"},
	{"permission to use, copy, modify, and", "ISC"},
	{"permission is hereby granted, free of charge", "Expat"},
	{"this is free and unencumbered software", "Unlicense"},
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice)([-.].*)?$`)
	gpl         = regexp.MustCompile(`(?ms)^ *GNU GENERAL PUBLIC LICENSE$.*`)
	holder      = regexp.MustCompile(`(?im)^\W*(copyright (?:\(c\)|©|[0-9]).*?)\W*$`)
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "copyright:", err)
		os.Exit(1)
	}
}

func write(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	dirs, err := moduleDirs()
	if err != nil {
		return err
	}
	fmt.Print(`Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: git-domarkx
Source: https://github.com/domarkx/domarkx

Files: *
Copyright: the authors of git-domarkx
License: Apache-2.0
`)
	listed, err := os.ReadFile("LICENSES/models.dev.txt")
	if err != nil {
		return err
	}
	if err := printStanza("models.dev", listed, nil); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	if err := printDir("Go "+info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if err := printDir(m.Path+" "+m.Version, dirs[m.Path]); err != nil {
			return err
		}
	}
	fmt.Print(`
License: Apache-2.0
 The full text is in the file LICENSE beside the program's archive, on Debian in
 /usr/share/common-licenses/Apache-2.0, and at https://www.apache.org/licenses/LICENSE-2.0.
`)
	return nil
}

func moduleDirs() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("listing modules: %w", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	return dirs, nil
}

// printDir prints the licence and notice files of a module.
func printDir(name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var text, notice []byte
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		// Where it is the alternative to a licence above it, Debian wants only its place.
		data = gpl.ReplaceAll(data, []byte("The text of the GPL: /usr/share/common-licenses/GPL-2"))
		text = append(append(text, data...), "\n\n"...)
		if strings.HasPrefix(strings.ToLower(e.Name()), "notice") {
			notice = append(notice, data...)
		}
	}
	return printStanza(name, text, notice)
}

// printStanza prints the licence of a library: its text, or of a library under the Apache License, whose text is the same
// everywhere, only the notices.
func printStanza(name string, text, notice []byte) error {
	words := strings.ToLower(strings.Join(strings.Fields(string(text)), " "))
	kind := ""
	for _, k := range kinds {
		if strings.Contains(words, k.words) {
			kind = k.name
			break
		}
	}
	if kind == "" {
		return fmt.Errorf("the licence of %s is not recognised; look at it and add it to kinds", name)
	}
	holders := []string{}
	for _, found := range holder.FindAllStringSubmatch(string(text), -1) {
		if h := strings.Join(strings.Fields(found[1]), " "); !slices.Contains(holders, h) && !strings.Contains(h, "[yyyy]") {
			holders = append(holders, h)
		}
	}
	if len(holders) == 0 {
		holders = []string{"the authors of " + name}
	}
	fmt.Printf("\nFiles: %s\nCopyright: %s\nLicense: %s\n", strings.ReplaceAll(name, " ", "_"), strings.Join(holders, "\n           "), kind)
	if kind == "Apache-2.0" {
		if text = notice; len(text) > 0 {
			fmt.Println("Comment:")
		}
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, " \t\r\n\f"); line == "" {
			line = "."
		}
		fmt.Println(" " + line)
	}
	return nil
}
