package recording

import "time"

// RetryAfter sets how long a watcher waits after an import that failed.
func (w *Watcher) RetryAfter(wait time.Duration) { w.retryAfter = wait }
