package mcpserver

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns a transport that reads requests from in and writes answers to out. When in ends, every request
// that was read is answered first.
func Stdio(in io.Reader, out io.WriteCloser) sdk.Transport {
	return stdio{&sdk.IOTransport{Reader: io.NopCloser(in), Writer: out}}
}

type stdio struct{ *sdk.IOTransport }

func (t stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	inner, err := t.IOTransport.Connect(ctx)
	c := &connection{Connection: inner, server: ctx, open: map[jsonrpc.ID]bool{}}
	c.changed.L = &c.lock
	context.AfterFunc(ctx, c.end)
	return c, err
}

// A connection delays the end of its input, because the SDK cancels the requests that it has not answered by then. It
// ends its input when the server ends, because the SDK then waits for the requests in progress.
type connection struct {
	sdk.Connection
	server  context.Context // until the server ends
	lock    sync.Mutex
	changed sync.Cond
	open    map[jsonrpc.ID]bool // requests without an answer
	ended   bool                // nothing more can be written
}

// end lets Read return.
func (c *connection) end() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.ended = true
	c.changed.Broadcast()
}

// Read reads a message. If it fails, it first waits for the answers to all requests.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.server, cancel)()
	m, err := c.Connection.Read(ctx)
	c.lock.Lock()
	defer c.lock.Unlock()
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.open[r.ID] = true
	}
	for err != nil && len(c.open) > 0 && !c.ended {
		c.changed.Wait()
	}
	return m, err
}

// Write writes a message.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.lock.Lock()
	defer c.lock.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(c.open, r.ID)
	}
	c.ended = c.ended || err != nil
	c.changed.Broadcast()
	return err
}

// Close ends the connection at once.
func (c *connection) Close() error {
	c.end()
	return c.Connection.Close()
}
