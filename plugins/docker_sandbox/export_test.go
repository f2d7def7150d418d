package dockersandbox

import "time"

// NewImpatient returns a plugin whose Leftovers waits another time for an engine.
func NewImpatient(wait time.Duration) *Plugin { return &Plugin{wait: wait} }
