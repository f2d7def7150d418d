package refdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// Moved returns when a reference got its present value in this repository: the time in the last line of its reflog, in
// seconds. It returns false if there is no reflog or if it is empty, for example because its lines have expired.
func (r *Refs) Moved(name string) (time.Time, bool, error) {
	if err := checkName(name); err != nil {
		return time.Time{}, false, err
	}
	file, err := os.Open(r.path("logs/" + name))
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return time.Time{}, false, err
	}
	const most = 16 << 10 // the last line is shorter
	data, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-most), most))
	if err != nil {
		return time.Time{}, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	when, ok := lastTime(string(data))
	return when, ok, nil
}

// maxReflog is how much [Refs.Reflog] reads of a reflog, in bytes: about the last 20,000 lines.
const maxReflog = 4 << 20

// Reflog returns the object ids that a reference has had, from its reflog: the present one first, then the previous ones,
// each once. created reports whether they include the value with which the reference was created: some are missing if
// lines have expired, or if the reflog has more than some 20,000.
func (r *Refs) Reflog(name string) (values []string, created bool, err error) {
	if err := checkName(name); err != nil {
		return nil, false, err
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

// lastTime returns the time in the last complete line of a reflog: "OLD NEW NAME <EMAIL> SECONDS ZONE TAB REASON".
func lastTime(log string) (time.Time, bool) {
	end := strings.LastIndexByte(log, '\n')
	if end < 0 {
		return time.Time{}, false
	}
	line, _, _ := strings.Cut(log[strings.LastIndexByte(log[:end], '\n')+1:end], "\t")
	fields := strings.Fields(line[strings.LastIndexByte(line, '>')+1:])
	if len(fields) != 2 {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0), true
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
		if err := forget(r.path("logs/" + name)); err != nil {
			return fmt.Errorf("clearing the reflog of %q: %w", name, err)
		}
	}
	return nil
}

// forget does the work of [Refs.Forget] for one reflog.
func forget(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil
	}
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(string(data), "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	old, rest, ok := strings.Cut(last, " ")
	if !ok || !oid.IsHex(old) {
		return atomicfile.Replace(path, nil) // the line is damaged
	}
	return atomicfile.Replace(path, []byte(strings.Repeat("0", len(old))+" "+rest+"\n"))
}

// ForgetValues removes certain object ids from the reflogs of all references below prefixes, including reflogs of
// references that no longer exist. It removes the lines whose new value is such an id, and replaces such an id as the old
// value of a line by zeros. The caller holds the repository's lock.
func (r *Refs) ForgetValues(forgotten func(id string) bool, prefixes ...string) error {
	if !r.held.Load() {
		return errors.New("clearing reflogs: the repository's lock is not held")
	}
	for _, prefix := range prefixes {
		err := filepath.WalkDir(r.path("logs/"+strings.TrimSuffix(prefix, "/")), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				if errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				return err
			}
			return forgetValues(path, forgotten)
		})
		if err != nil {
			return fmt.Errorf("clearing the reflogs of %q: %w", prefix, err)
		}
	}
	return nil
}

func forgetValues(path string, forgotten func(id string) bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var kept strings.Builder
	changed := false
	for line := range strings.Lines(string(data)) {
		old, now, rest, ok := parseLine(line)
		if !ok {
			kept.WriteString(line)
			continue
		}
		if forgotten(now) {
			changed = true
			continue
		}
		if forgotten(old) {
			old, changed = strings.Repeat("0", len(old)), true
		}
		kept.WriteString(old + " " + now + rest)
	}
	if !changed {
		return nil
	}
	return atomicfile.Replace(path, []byte(kept.String()))
}
