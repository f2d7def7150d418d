package refdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// maxReflog is how much [Refs.Reflog] reads of a reflog, in bytes: about the last 20,000 lines.
const maxReflog = 4 << 20

// Reflog returns the object ids that a reference has had, from its reflog: the present one first, then the previous ones,
// each once. created reports whether they include the value with which the reference was created: some are missing if
// lines have expired, or if the reflog has more than some 20,000.
func (r *Refs) Reflog(name string) (values []string, created bool, err error) {
	if err := checkName(name); err != nil {
		return nil, false, err
	}
	if r.git.Reftable {
		return r.logValues(name)
	}
	file, err := os.Open(r.path("logs/" + name))
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return nil, false, err
	}
	data, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-maxReflog), maxReflog))
	if err != nil {
		return nil, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	values, created = reflogValues(string(data))
	return values, created, nil
}

// reflogValues parses a reflog as [Refs.Reflog] returns it. It skips lines that do not begin with two object ids.
func reflogValues(log string) (values []string, created bool) {
	lines := strings.Split(log, "\n")
	seen := map[string]bool{}
	for _, line := range slices.Backward(lines) {
		old, now, _, ok := parseLine(line)
		if !ok {
			continue
		}
		created = false
		for _, id := range []string{now, old} {
			if strings.Trim(id, "0") == "" {
				created = id == old
			} else if !seen[id] {
				seen[id] = true
				values = append(values, id)
			}
		}
	}
	return values, created
}

// parseLine returns the two ids at the beginning of a line of a reflog, and the rest with the space before it.
func parseLine(line string) (old, now, rest string, ok bool) {
	old, rest, _ = strings.Cut(line, " ")
	end := strings.IndexByte(rest, ' ')
	if end < 0 || !oid.IsHex(old) || !oid.IsHex(rest[:end]) {
		return "", "", "", false
	}
	return old, rest[:end], rest[end:], true
}

// Forget removes the previous values of references from their reflogs: it keeps the last line of each, and replaces the
// old value in it by zeros. The caller holds the repository's lock.
func (r *Refs) Forget(names ...string) error {
	if !r.held.Load() {
		return errors.New("clearing reflogs: the repository's lock is not held")
	}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
	}
	if r.git.Reftable {
		return r.forgetTables(names)
	}
	for _, name := range names {
		if err := rewriteLog(r.path("logs/"+name), onlyLast); err != nil {
			return fmt.Errorf("clearing the reflog of %q: %w", name, err)
		}
	}
	return nil
}

// rewriteLog replaces the text of a reflog, if there is one, by what change returns.
func rewriteLog(path string, change func(text string) string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return ignoreMissing(err)
	}
	if now := change(string(data)); now != string(data) {
		return atomicfile.Replace(path, []byte(now))
	}
	return nil
}

// onlyLast returns the last line of a reflog, with zeros as the old value, or nothing if the line is damaged.
func onlyLast(text string) string {
	text = strings.TrimSuffix(text, "\n")
	old, rest, ok := strings.Cut(text[strings.LastIndexByte(text, '\n')+1:], " ")
	if !ok || !oid.IsHex(old) {
		return ""
	}
	return strings.Repeat("0", len(old)) + " " + rest + "\n"
}

// ForgetValues removes certain object ids from the reflogs of all references below prefixes, including reflogs of
// references that no longer exist. It removes the lines whose new value is such an id, and replaces such an id as the old
// value of a line by zeros. The caller holds the repository's lock.
func (r *Refs) ForgetValues(forgotten func(id string) bool, prefixes ...string) error {
	if !r.held.Load() {
		return errors.New("clearing reflogs: the repository's lock is not held")
	}
	if r.git.Reftable {
		return r.forgetLines(func(l logLine) bool { return forgotten(l.now) }, prefixes)
	}
	return r.eachLog(prefixes, func(line string) string {
		old, now, rest, ok := parseLine(line)
		switch {
		case ok && forgotten(now):
			return ""
		case ok && forgotten(old):
			return strings.Repeat("0", len(old)) + " " + now + rest
		}
		return line
	})
}

// RewriteReasons replaces the reasons in the reflogs of all references of this program. rewrite returns the new reason, and
// whether it differs. In the reftable backend, where a line cannot be changed, the line is removed. The caller holds the
// repository's lock.
func (r *Refs) RewriteReasons(rewrite func(reason string) (string, bool)) error {
	if !r.held.Load() {
		return errors.New("rewriting reflogs: the repository's lock is not held")
	}
	if r.git.Reftable {
		return r.forgetLines(func(l logLine) bool { _, changed := rewrite(l.reason); return changed }, ours[:])
	}
	return r.eachLog(ours[:], func(line string) string {
		head, reason, ok := strings.Cut(line, "\t")
		if now, differs := rewrite(reason); ok && differs {
			return head + "\t" + now
		}
		return line
	})
}

// eachLog replaces each line in all reflogs below prefixes by what change returns.
func (r *Refs) eachLog(prefixes []string, change func(line string) string) error {
	lines := func(text string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			out.WriteString(change(line))
		}
		return out.String()
	}
	for _, prefix := range prefixes {
		err := filepath.WalkDir(r.path("logs/"+strings.TrimSuffix(prefix, "/")), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return rewriteLog(path, lines)
		})
		if err != nil {
			return fmt.Errorf("changing the reflogs of %q: %w", prefix, err)
		}
	}
	return nil
}
