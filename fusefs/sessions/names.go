package sessions

import (
	"path"
	"strings"
)

// Extension is the extension of every session's file.
const Extension = ".md"

// SessionOf returns the session at a path in the directory of sessions, or false for any
// other file. Backups, locks, swap and temporary files of editors do not end in .md, or
// have a component that starts with a dot.
func SessionOf(p string) (name string, ok bool) {
	name, ok = strings.CutSuffix(p, Extension)
	if !ok || path.Base(p) == Extension || hidden(p) {
		return "", false
	}
	return name, true
}

// hidden reports whether a component of the path starts with a dot.
func hidden(p string) bool {
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

// pathOf returns the path of a session's file.
func pathOf(session string) string { return session + Extension }

func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "/" + name
}

// parent returns the directory of a path, "" for the root.
func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// clash reports whether two sessions cannot exist together: one name is a directory of
// the other, or they differ only by case.
func clash(a, b string) bool {
	return a != b && (strings.EqualFold(a, b) || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/"))
}
