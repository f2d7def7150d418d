package overlay

import (
	"path"
	"strings"
)

// Extension ends the name of every session's file.
const Extension = ".md"

// SessionOf returns the session that a path in the folder of sessions stands for,
// or false when it is scratch: editors' backups, locks, swap and temporary files
// either do not end in .md or have a component that begins with a dot.
func SessionOf(p string) (name string, ok bool) {
	name, ok = strings.CutSuffix(p, Extension)
	if !ok || path.Base(p) == Extension || hidden(p) {
		return "", false
	}
	return name, true
}

// hidden reports whether a component of the path begins with a dot.
func hidden(p string) bool {
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
}

// pathOf returns the path of a session's file.
func pathOf(session string) string { return session + Extension }

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// parent returns the folder of a path, "" for the top.
func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// clash reports whether two names cannot both be sessions: one is the folder of
// the other, or they differ only by case.
func clash(a, b string) bool {
	return a != b && (strings.EqualFold(a, b) || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/"))
}
