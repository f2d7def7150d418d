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
)

// Moved returns when a reference got its present value on this machine, according to the last
// line of its reflog. ok is false if there is no reflog (it may have expired).
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
	const most = 16 << 10 // longer than any line
	data, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-most), most))
	if err != nil {
		return time.Time{}, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	when, ok := lastTime(string(data))
	return when, ok, nil
}

// maxReflog is the number of bytes that are read of a reflog: about its last 20,000 lines.
const maxReflog = 4 << 20

// Reflog returns the previous values of a reference, the latest first and without
// duplicates, from the end of its reflog. created reports whether they go back to the creation
// of the reference.
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

// reflogValues parses lines OLD NEW … and skips all others.
func reflogValues(log string) (values []string, created bool) {
	lines := strings.Split(log, "\n")
	seen := map[string]bool{}
	for _, line := range slices.Backward(lines) {
		if len(line) < 2*hexLen+2 || !isID(line[:hexLen]) || !isID(line[hexLen+1:2*hexLen+1]) {
			continue
		}
		created = false
		for _, id := range []string{line[hexLen+1 : 2*hexLen+1], line[:hexLen]} {
			if strings.Trim(id, "0") == "" {
				created = id == line[:hexLen]
			} else if !seen[id] {
				seen[id] = true
				values = append(values, id)
			}
		}
	}
	return values, created
}

// lastTime parses the last complete line, OLD NEW NAME <EMAIL> SECONDS ZONE TAB REASON.
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

// Forget removes the earlier values of references from their reflogs, and keeps only the last line of
// each. The lock must be held.
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

// forget replaces a reflog by its last line, from which it removes the value before.
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
	if !ok || !isID(old) {
		return atomicfile.Replace(path, nil) // damaged
	}
	return atomicfile.Replace(path, []byte(strings.Repeat("0", len(old))+" "+rest+"\n"))
}

// ForgetValues removes the lines with certain values from the reflogs below prefixes, also from those that references
// which do not exist any more have left. A value before such a line becomes that of no object. The lock must be held.
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
		if len(line) < 2*hexLen+2 || !isID(line[:hexLen]) || !isID(line[hexLen+1:2*hexLen+1]) {
			kept.WriteString(line)
			continue
		}
		old, now, rest := line[:hexLen], line[hexLen+1:2*hexLen+1], line[2*hexLen+1:]
		if forgotten(now) {
			changed = true
			continue
		}
		if forgotten(old) {
			old, changed = strings.Repeat("0", hexLen), true
		}
		kept.WriteString(old + " " + now + rest)
	}
	if !changed {
		return nil
	}
	return atomicfile.Replace(path, []byte(kept.String()))
}
