package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked reports that another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("locked by another process")

// Lock locks an open file until it is closed or the process ends. It waits while another process
// holds the lock. Its errors are those of [TryLock], and that of ctx.
func Lock(ctx context.Context, f *os.File) error {
	const first, longest = time.Millisecond, 100 * time.Millisecond
	for pause := first; ; pause = min(pause*2, longest) {
		if err := TryLock(f); !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the lock of %q: %w", f.Name(), ctx.Err())
		case <-time.After(pause):
		}
	}
}
