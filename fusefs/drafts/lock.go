package drafts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const lockName = "lock"

// forked is how long to wait for the lock of a dead process: a child that the process had
// just forked holds it until it executes its own program.
const forked = 5 * time.Second

// takeLock locks a journal until this process ends, and writes its process number to the
// lock file. It returns [atomicfile.ErrLocked] while another process has the journal.
func takeLock(journal string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(journal, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(forked)
	for err = atomicfile.TryLock(lock); err != nil; err = atomicfile.TryLock(lock) {
		if !errors.Is(err, atomicfile.ErrLocked) || atomicfile.IsAlive(owner(lock)) || time.Now().After(deadline) {
			lock.Close()
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
	pid := fmt.Appendf(nil, "%d\n", os.Getpid())
	if err = lock.Truncate(0); err == nil {
		_, err = lock.WriteAt(pid, 0)
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// owner returns the process number in a lock file, or 0.
func owner(lock *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, 32))
	line, whole := strings.CutSuffix(string(text), "\n")
	pid, convErr := strconv.Atoi(line)
	if err != nil || !whole || convErr != nil || pid <= 0 {
		return 0
	}
	return pid
}
