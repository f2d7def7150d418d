package secrets

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// File returns the secrets in a file. Depending on its content, these are in the values of JSON, the
// parts of a container, or text. In installed and generated files, such as those of node_modules, and
// in binary files, such as images, only secrets with a recognizable form count. The name may be empty.
func (s *Scanner) File(name string, content []byte) []Finding {
	if IsContainer(content) {
		return s.container(content)
	}
	found := s.rules().file(content)
	if slices.ContainsFunc(found, func(m match) bool { return m.weak }) && s.Installed(name) {
		found = slices.DeleteFunc(found, func(m match) bool { return m.weak })
	}
	return s.findings(found, content)
}

// Record returns the secrets with a form of their own in content that consists of ids, digests and
// modes of files.
func (s *Scanner) Record(content []byte) []Finding {
	return s.findings(s.rules().text(content, strong), content)
}

// file returns the secrets in a file that is not a container.
func (s *ruleSet) file(content []byte) []match {
	if looksLikeJSON(content) {
		return s.json(content)
	}
	if !isBinary(content) {
		return s.text(content, strong|weak)
	}
	text := fromUTF16(content)
	if text == nil {
		return s.text(content, strong)
	}
	found := s.file(text)
	for i := range found {
		m := &found[i]
		m.move(text, placeInUTF16(content, text, m.start), placeInUTF16(content, text, m.end))
	}
	return found
}

// encodedFile returns the secrets in a file in base64, which may be a data URL (RFC 2397). All of it counts as the
// secret, because it cannot be edited.
func (s *ruleSet) encodedFile(value []byte) []match {
	run := value
	if i := bytes.Index(value[:min(len(value), 120)], []byte(";base64,")); i >= 0 {
		run = value[i+len(";base64,"):]
	}
	content := decodeBase64(nil, bytes.TrimRight(standardBase64(run), "="))
	var found []match
	search := func(_ string, part []byte) {
		for _, m := range s.file(part) {
			m.move(part, 0, len(value))
			found = append(found, m)
		}
	}
	if search("", content); IsContainer(content) {
		_ = Unpack(content, search) //nolint:errcheck // what can be read counts
	}
	return resolve(found)
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
	lines := 0
	for line := range bytes.Lines(rest) {
		if lines++; lines > 4 {
			break
		}
		if len(bytes.TrimSpace(line)) > 0 && !scan.split(line) {
			return false
		}
	}
	return true
}

// IsText reports whether a file is text, which can be edited.
func IsText(content []byte) bool { return !isBinary(content) && !IsContainer(content) }

// isBinary reports whether content is binary by Git's rule: a NUL among the first bytes.
func isBinary(content []byte) bool { return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 }
