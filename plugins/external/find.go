package external

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// prefix begins the names of plugin programs.
const prefix = "git-domarkx-plugin-"

// maxType limits the length of a type's name.
const maxType = 64

// Find returns the plugins among the programs on a PATH, in its order. If several programs have
// the same type, it returns the first. It skips relative entries and entries in the excepted
// directories.
func Find(path string, except ...string) []domarkx.Plugin {
	excepted := make([]string, len(except))
	for i, directory := range except {
		excepted[i] = beneath.Resolve(directory)
	}
	var found []domarkx.Plugin
	known := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		real := beneath.Resolve(dir)
		if !filepath.IsAbs(dir) || slices.ContainsFunc(excepted, func(top string) bool { return beneath.Within(real, top) }) {
			continue
		}
		files, _ := glob.Below(dir, prefix+"*") // the pattern is valid
		for _, file := range files {
			kind, ok := typeOf(filepath.Base(file))
			if !ok || known[kind] || !isProgram(file) {
				continue
			}
			known[kind] = true
			found = append(found, New(kind, file, Options{}))
		}
	}
	return found
}

// typeOf returns the type that a program's name contains.
func typeOf(name string) (string, bool) {
	kind, ok := strings.CutPrefix(name, prefix)
	if runtime.GOOS == "windows" && ok {
		kind, ok = strings.CutSuffix(kind, ".exe")
	}
	return kind, ok && isType(kind)
}

func isType(name string) bool {
	wrong := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) }
	return name != "" && len(name) <= maxType && !strings.ContainsFunc(name, wrong)
}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
