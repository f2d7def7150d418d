package refdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Moved tells when a reference got its present value on this machine, from the
// last line of its reflog; false when there is none (it may have expired).
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
	const most = 16 << 10 // more than a line can have
	data, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-most), most))
	if err != nil {
		return time.Time{}, false, fmt.Errorf("reading the reflog of %q: %w", name, err)
	}
	when, ok := lastTime(string(data))
	return when, ok, nil
}

// lastTime reads the last whole line OLD NEW NAME <EMAIL> SECONDS ZONE TAB REASON.
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
