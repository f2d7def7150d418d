package sqlite

import "time"

// NewImpatient returns the plugin with another limit to how long it waits for locks of other programs.
func NewImpatient(lockTimeout time.Duration) Plugin { return Plugin{lockTimeout} }
