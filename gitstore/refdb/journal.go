package refdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const journalFormat = 1

// maxJournal is the largest size of a journal file in bytes, enough for about a million references.
const maxJournal = 512 << 20

// A record is the content of a journal file.
type record struct {
	Format   int      `json:"format"`
	PID      int      `json:"pid"` // only for people; the file's lock shows whether the process is running
	Reason   string   `json:"reason,omitempty"`
	Changes  []Change `json:"changes,omitempty"`
	Prefixes []string `json:"prefixes,omitempty"`
	Files    []string `json:"files,omitempty"`
}

// An entry is a journal file that is open and locked.
type entry struct {
	record
	file  *os.File
	since time.Time // modification time of the file: lock files of its git are not older
}

func (r *Refs) journalDir() string { return filepath.Join(r.git.StateDir(), "journal") }

// begin writes a journal file and locks it. If durable, it is on disk when begin returns. The caller holds the
// repository's lock.
func (r *Refs) begin(rec record, durable bool) (*entry, error) {
	rec.Format, rec.PID = journalFormat, os.Getpid()
	data, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(r.journalDir(), "*.json")
	if err != nil {
		return nil, readOnly("writing the journal", err)
	}
	e := &entry{record: rec, file: file}
	if err := e.write(append(data, '\n'), durable); err != nil {
		_ = e.end()
		return nil, readOnly("writing the journal", err)
	}
	return e, nil
}

func (e *entry) write(data []byte, durable bool) error {
	if err := atomicfile.TryLock(e.file); err != nil {
		return err
	}
	if _, err := e.file.Write(data); err != nil {
		return err
	}
	info, err := e.file.Stat()
	if err != nil {
		return err
	}
	e.since = info.ModTime()
	if !durable {
		return nil
	}
	if err := e.file.Sync(); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(e.file.Name()))
}

// leave unlocks and closes the file without removing it. The next process that takes the repository's lock repairs what
// the entry describes.
func (e *entry) leave() {
	_ = atomicfile.Unlock(e.file)
	e.file.Close()
}

// end removes the file, unlocks it and closes it.
func (e *entry) end() error {
	err := os.Remove(e.file.Name())
	e.leave()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// parseJournal parses a journal file. It returns false if the file is truncated or not valid.
func parseJournal(data []byte) (record, bool) {
	var rec record
	if !bytes.HasSuffix(data, []byte("\n")) || json.Unmarshal(data, &rec) != nil || rec.Format != journalFormat {
		return record{}, false
	}
	for _, change := range rec.Changes {
		if change.check() != nil {
			return record{}, false
		}
	}
	for _, prefix := range rec.Prefixes {
		if !strings.HasSuffix(prefix, "/") || !isOurs(prefix) || checkName(prefix+"x") != nil {
			return record{}, false
		}
	}
	for _, file := range rec.Files {
		if file != filepath.Base(file) || !strings.HasSuffix(file, ".lock") {
			return record{}, false
		}
	}
	return rec, true
}

// unfinished returns the paths of all journal files.
func (r *Refs) unfinished() ([]string, error) {
	entries, err := readDir(r.journalDir())
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".json") {
			names = append(names, filepath.Join(r.journalDir(), entry.Name()))
		}
	}
	return names, nil
}
