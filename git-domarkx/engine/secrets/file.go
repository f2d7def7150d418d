package secrets

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// File returns the secrets in a file. Depending on its content, these are in the metadata of an
// image, the values of JSON, the parts of a container, or text. In installed and generated files,
// such as those of node_modules, only secrets with a recognizable form count. The name may be empty.
func (s *Scanner) File(name string, content []byte) []Finding {
	if IsContainer(content) {
		return s.container(content)
	}
	rules := s.rules()
	var found []match
	switch {
	case imageType(content) != "":
		found = rules.image(content)
	case looksLikeJSON(content):
		found = rules.json(content)
	case isBinary(content):
		found = rules.text(content, strong)
	default:
		found = rules.text(content, strong|weak)
	}
	if slices.ContainsFunc(found, func(m match) bool { return m.weak }) && s.Installed(name) {
		found = slices.DeleteFunc(found, func(m match) bool { return m.weak })
	}
	return s.findings(found, func(m match) []byte {
		if m.secret != nil {
			return m.secret
		}
		return content[m.start:m.end]
	})
}

// Installed reports whether a file is installed or generated, according to its name, such as a file
// in node_modules.
func (s *Scanner) Installed(name string) bool {
	if name == "" {
		return false
	}
	name = path.Clean(name)
	return slices.ContainsFunc(s.rules().paths(), func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

// looksLikeJSON reports whether content is probably JSON or lines of JSON, according to its first
// lines.
func looksLikeJSON(content []byte) bool {
	rest := bytes.TrimLeft(content, " \t\r\n\xef\xbb\xbf")
	if len(rest) == 0 || strings.IndexByte("{[\"", rest[0]) < 0 {
		return false
	}
	var scan jsonScan
	for n := 0; n < 4 && len(rest) > 0; n++ {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(bytes.TrimSpace(line)) > 0 && !scan.split(line) {
			return false
		}
	}
	return true
}

// isBinary reports whether content is binary by Git's rule: a NUL among the first bytes.
func isBinary(content []byte) bool { return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 }
