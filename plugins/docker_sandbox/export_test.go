package dockersandbox

import "time"

// NewImpatient returns a plugin that waits another time for an engine in Leftovers, and for an agent.
func NewImpatient(wait time.Duration) *Plugin { return &Plugin{wait: wait} }
