package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
)

const (
	// maxDirectives and maxExpanded limit the includes of one document.
	maxDirectives = 10_000
	maxExpanded   = 64 << 20
	// originSize is the memory in bytes that the origin of a run of included lines needs. It counts
	// towards the limit, so that files that only include empty files are limited too.
	originSize = 48
	// maxIncludeDepth is the maximum nesting of includes.
	maxIncludeDepth = 100
)

// A file is an included file.
type file struct {
	data     []byte
	text     source   // with its own includes expanded
	reading  bool     // it is being expanded; including it now would be a cycle
	messages []string // the rendered content of its messages, computed on first use
}

// An expander replaces directives by the included content.
type expander struct {
	include    func(string) ([]byte, error)
	directory  string // path of the document, for errors
	files      map[string]*file
	directives int
	expanded   int
}

// includes returns the files that were read, sorted by path.
func (x *expander) includes() []domarkx.Include {
	var list []domarkx.Include
	for name, f := range x.files {
		list = append(list, domarkx.Include{Path: name, Data: f.data})
	}
	slices.SortFunc(list, func(a, b domarkx.Include) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// expand replaces the directives in a text of the file called name, which begins at offset start and is
// line number and what follows. Included paths are relative to dir. It also returns the positions of the directives in the file.
func (x *expander) expand(text []byte, name, dir string, start, number, depth int) (source, []int, error) {
	begin := origin{raw: start, path: name, line: number}
	if !mayInclude(text) {
		return source{text: text, runs: []origin{begin}}, nil, nil
	}
	out := source{runs: []origin{begin}}
	var at []int
	copied := 0 // how much of text was already copied to out
	for pos := 0; pos < len(text); number++ {
		line, next := cutLine(text, pos)
		d, ok := matchDirective(line)
		if ok && d.backslashes == 0 {
			out.text = append(out.text, text[copied:pos]...)
			if err := x.directive(&out, d, text[pos+len(line):next], name, dir, number, depth); err != nil {
				var located *syntax.Error
				if !errors.As(err, &located) {
					err = &syntax.Error{Path: name, Line: number, Column: len(d.indent) + 1,
						Msg: fmt.Sprintf("include %q: %v", valid([]byte(d.path)), err), Err: err}
				}
				return out, nil, err
			}
			at = append(at, start+pos)
			out.runs = append(out.runs, origin{at: len(out.text), raw: start + next, path: name, line: number + 1})
			copied = next
		}
		pos = next
	}
	out.text = append(out.text, text[copied:]...)
	return out, at, nil
}

// directive appends the content of a directive's file to out. end is the line end after the directive.
// An error without a position is about the directive itself.
func (x *expander) directive(out *source, d directive, end []byte, name, dir string, number, depth int) error {
	if x.directives++; x.directives > maxDirectives {
		return fmt.Errorf("more than %d includes in one document", maxDirectives)
	}
	target, index, indexed := strings.Cut(d.path, "#")
	target, err := includePath(dir, target)
	if err != nil {
		return err
	}
	f, err := x.file(target, depth)
	if err != nil {
		return err
	}
	included := f.text
	if indexed {
		text, err := f.message(index)
		if err != nil {
			return err
		}
		included = source{text: []byte(text), runs: []origin{{path: name, line: number, one: true}}}
	}
	lines := 1 + bytes.Count(included.text, []byte("\n"))
	if x.expanded += len(included.text) + lines*(len(d.indent)+2) + len(included.runs)*originSize; x.expanded > maxExpanded {
		return fmt.Errorf("the included text comes to more than %d MiB", maxExpanded>>20)
	}
	out.appendIncluded(included, d)
	out.text = append(out.text, end...)
	return nil
}

// appendIncluded appends the included text without its final line end. Each line gets the indentation
// and quote marker of the directive.
func (s *source) appendIncluded(included source, d directive) {
	text, runs := chomp(included.text), included.runs
	for at := 0; at < len(text); {
		_, next := cutLine(text, at)
		for len(runs) > 0 && runs[0].at <= at {
			run := runs[0]
			run.at, run.raw = len(s.text), -1
			s.runs = append(s.runs, run)
			runs = runs[1:]
		}
		line := text[at:next]
		if d.quoted {
			s.text = append(append(s.text, d.indent...), "> "...)
		} else if !isBlank(chomp(line)) {
			s.text = append(s.text, d.indent...)
		}
		s.text = append(s.text, line...)
		at = next
	}
}

// file returns an included file, read and expanded.
func (x *expander) file(name string, depth int) (*file, error) {
	if f, ok := x.files[name]; ok {
		if f.reading {
			return nil, errors.New("the file includes itself, directly or through others")
		}
		return f, nil
	}
	if x.include == nil {
		return nil, errors.New("nothing can be included here: the document has no directory; " +
			`write \[include](…) for a line that is not an include`)
	}
	if depth >= maxIncludeDepth {
		return nil, fmt.Errorf("files include each other more than %d deep", maxIncludeDepth)
	}
	data, err := x.include(name)
	if err != nil {
		return nil, err
	}
	f := &file{data: data, reading: true}
	x.files[name] = f
	text := bytes.TrimPrefix(data, []byte(bom))
	if f.text, _, err = x.expand(text, path.Join(x.directory, name), path.Dir(name), 0, 1, depth+1); err != nil {
		return nil, err
	}
	f.reading = false
	return f, nil
}

// message returns the content of one of the file's messages as Markdown; negative
// indexes count from the end.
func (f *file) message(index string) (string, error) {
	i, err := strconv.Atoi(strings.TrimSpace(index))
	if err != nil {
		return "", fmt.Errorf("%q is not a message index, expected an integer after the number sign", index)
	}
	if f.messages == nil {
		f.messages = []string{}
		err := sections(f.text.text, func(sec section) error {
			if sec.role == "" {
				return nil
			}
			m, err := f.text.message(sec, func(segment) error { return nil })
			if err != nil {
				return err
			}
			var parts []byte
			for i, b := range m.Content {
				if i > 0 {
					parts = append(parts, '\n')
				}
				parts = appendContent(parts, b)
			}
			f.messages = append(f.messages, string(chomp(parts)))
			return nil
		})
		if err != nil {
			f.messages = nil
			return "", err
		}
	}
	at := i
	if at < 0 {
		at += len(f.messages)
	}
	if at < 0 || at >= len(f.messages) {
		return "", fmt.Errorf("there is no message %d, the file has %d", i, len(f.messages))
	}
	return f.messages[at], nil
}

// includePath returns the path of an included file from the document's directory, if it is
// lexically inside that directory and acceptable.
func includePath(dir, name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("no file is named, expected a path")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F || r == '\\' }):
		return "", errors.New(`the path has a backslash or a control character, expected "/" between names`)
	case name[0] == '/', len(name) > 1 && name[1] == ':':
		return "", errors.New("the path is absolute, expected one relative to the including file")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", errors.New(`the path has "..", expected a file in the document's directory or below`)
		}
		if p := strings.ToLower(strings.TrimRight(part, ". ")); p == ".git" || p == "git~1" {
			return "", errors.New("the file is in a .git directory, which cannot be included from")
		}
	}
	name = path.Join(dir, name)
	if name == "." || strings.HasSuffix(name, "/") {
		return "", errors.New("the path names a directory, expected a file")
	}
	return name, nil
}
