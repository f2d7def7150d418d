package review

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// options make the output of git diff the same whatever is configured, and run no other program.
var options = []string{
	"-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "-c", "core.fsmonitor=false",
	"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--find-renames", "--unified=3", "--inter-hunk-context=0",
	"--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--ignore-submodules=dirty", "--submodule=short", "--diff-algorithm=myers", "-O" + os.DevNull,
}

func (m *Manager) diff(ctx context.Context, c compared, paths []string) ([]File, error) {
	command := gitcmd.Command{Args: append(append([]string(nil), options...), "--patch")}
	if c.to == Index {
		command.Args = append(command.Args, "--cached")
	}
	command.Args = append(command.Args, c.from)
	if c.to != Index && c.to != WorkTree {
		command.Args = append(command.Args, c.to)
	}
	command.Args = append(append(command.Args, "--"), paths...)
	if c.fresh {
		index, done, err := m.withNew(ctx)
		defer done()
		if err != nil {
			return nil, err
		}
		if index != "" {
			command.Env = []string{"GIT_INDEX_FILE=" + index}
		}
	}
	out, err := m.Git.Do(ctx, command)
	if err != nil {
		return nil, err
	}
	return parse(out)
}

// withNew returns a copy of the index that has the files that Git does not track, or "" if there are none. No
// content is stored for them.
func (m *Manager) withNew(ctx context.Context) (index string, done func(), err error) {
	done = func() {}
	out, err := m.Git.Run(ctx, nil, "-C", m.Git.WorkTree, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil || len(out) == 0 {
		return "", done, err
	}
	dir, err := os.MkdirTemp("", "git-domarkx-")
	if err != nil {
		return "", done, err
	}
	done = func() { os.RemoveAll(dir) }
	index = filepath.Join(dir, "index")
	where, err := m.Git.Run(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", done, err
	}
	data, err := os.ReadFile(strings.TrimSuffix(string(where), "\n"))
	if err == nil {
		err = os.WriteFile(index, data, 0o600)
	}
	if err != nil && !os.IsNotExist(err) {
		return "", done, err
	}
	_, err = m.Git.Do(ctx, gitcmd.Command{Args: []string{"--literal-pathspecs", "-c", "core.splitIndex=false", "-C", m.Git.WorkTree, "add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Stdin: bytes.NewReader(out), Env: []string{"GIT_INDEX_FILE=" + index}})
	return index, done, err
}

func parse(out []byte) ([]File, error) {
	files := []File{}
	begins := func(with string) bool { return bytes.HasPrefix(out, []byte(with)) }
	for len(out) > 0 {
		line := cutLine(&out)
		if !strings.HasPrefix(line, "diff --git ") {
			continue // such as "* Unmerged path"
		}
		f := File{Status: "modified", Header: []string{line}, Hunks: []Hunk{}}
		names := strings.TrimPrefix(line, "diff --git ")
		if n := len(names) / 2; len(names)%2 == 1 { // "a/X b/X", unless other lines name it
			f.old, f.new = named(names[:n]), named(names[n+1:])
		}
		for len(out) > 0 && !begins("@@ ") && !begins("diff --git ") && !begins("* Unmerged path ") {
			line = cutLine(&out)
			f.Header = append(f.Header, line)
			f.head(line)
		}
		for begins("@@ ") {
			h, err := parseHunk(&out)
			if err != nil {
				return nil, err
			}
			f.Hunks = append(f.Hunks, h)
		}
		if f.Path = f.new; f.Status == "deleted" {
			f.Path = f.old
		}
		if f.Status == "renamed" {
			f.OldPath = f.old
		}
		files = append(files, f)
	}
	return files, nil
}

// cutLine removes the first line of a text and returns it without its end.
func cutLine(out *[]byte) string {
	line, rest, _ := bytes.Cut(*out, []byte{'\n'})
	*out = rest
	return string(line)
}

// head reads a line between "diff --git" and the first hunk.
func (f *File) head(line string) {
	words, mode := strings.Fields(line), ""
	for prefix, at := range map[string]*string{"--- ": &f.old, "+++ ": &f.new} {
		if name, ok := strings.CutPrefix(line, prefix); ok && name != os.DevNull {
			*at = named(strings.TrimSuffix(name, "\t"))
		}
	}
	switch name, isOld := strings.CutPrefix(line, "rename from "); {
	case isOld:
		f.old, f.Status = gitcmd.UnquotedPath(name), "renamed"
	case strings.HasPrefix(line, "rename to "):
		f.new = gitcmd.UnquotedPath(strings.TrimPrefix(line, "rename to "))
	case strings.HasPrefix(line, "new file mode "):
		f.Status, mode = "added", words[len(words)-1]
	case strings.HasPrefix(line, "deleted file mode "):
		f.Status, mode = "deleted", words[len(words)-1]
	case strings.HasPrefix(line, "index ") && len(words) > 1: // index OLD..NEW [MODE]
		f.oldID, f.newID, _ = strings.Cut(words[1], "..")
		mode = words[len(words)-1]
	case strings.HasPrefix(line, "Binary files "):
		f.Binary = true
	}
	f.Submodule = f.Submodule || mode == fmt.Sprintf("%o", odb.ModeSubmodule)
	f.link = f.link || mode == "120000"
}

// named returns the path in a name with the prefix a/ or b/.
func named(name string) string {
	name = gitcmd.UnquotedPath(name)
	return name[min(2, len(name)):]
}

// hunkHeader is the line before a hunk, with the first line and the number of lines of both sides; one line has no number.
var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
})

// parseHunk removes the first hunk of a text. Its header says how many lines it has, whatever is in them.
func parseHunk(out *[]byte) (Hunk, error) {
	h := Hunk{Header: cutLine(out), Authors: []Author{}}
	fields := hunkHeader().FindStringSubmatch(h.Header)
	if fields == nil {
		return h, fmt.Errorf("git diff: the hunk %.80q has no line numbers", h.Header)
	}
	var olds, news int
	for i, n := range []*int{&h.oldStart, &olds, &h.newStart, &news} {
		var err error
		if *n, err = strconv.Atoi(cmp.Or(fields[i+1], "1")); err != nil {
			return h, fmt.Errorf("git diff: the hunk %.80q: %w", h.Header, err)
		}
	}
	for olds > 0 || news > 0 || bytes.HasPrefix(*out, []byte(`\`)) {
		if len(*out) == 0 {
			return h, fmt.Errorf("git diff: the hunk %.80q is cut off", h.Header)
		}
		line := cutLine(out)
		switch sign(line) {
		case '+':
			news--
		case '-':
			olds--
		case ' ':
			olds--
			news--
		}
		h.Lines = append(h.Lines, line)
	}
	return h, nil
}

// sign returns the sign of a line of a hunk.
func sign(line string) byte {
	if line == "" {
		return ' '
	}
	return line[0]
}
