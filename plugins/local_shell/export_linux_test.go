package localshell

import "testing"

// SetNameServices replaces the sockets that stay open to commands during a test.
func SetNameServices(t *testing.T, sockets ...string) {
	before := nameServices
	nameServices = sockets
	t.Cleanup(func() { nameServices = before })
}
