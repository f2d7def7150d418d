package mountd

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/domarkx/domarkx/fusefs"
)

// The questions that a command can ask the server of a mount.
const (
	askAlive  = "alive"  // whether the server answers
	askSettle = "settle" // create snapshots of all saves now

	askDismiss = "dismiss " // drop the broken save whose draft has the key that follows
)

// controlAnswer is the answer of a mount's server.
type controlAnswer struct {
	Pending []string `json:"pending,omitempty"` // sessions with saves that are not snapshots yet
	Problem string   `json:"problem,omitempty"` // why a draft could not be dropped
}

// controlPath returns the path of a server's socket, given the path of its note.
func controlPath(note string) string { return note + ".socket" }

// serveControl answers the questions of commands on a socket, until the listener is closed. If that fails, it logs the error, and
// commands must wait until the server stores saves by itself.
func serveControl(ctx context.Context, server *fusefs.Server, path string, log *slog.Logger) net.Listener {
	listener, err := listenControl(ctx, path)
	if err != nil {
		log.Error("listening for commands", "err", err)
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(ctx, server, conn)
		}
	}()
	return listener
}

func listenControl(ctx context.Context, path string) (net.Listener, error) {
	address, release, err := socketAddress(path)
	if err != nil {
		return nil, err
	}
	defer release()
	os.Remove(path) // a killed server may have left it
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", address)
	if err == nil {
		listener.(*net.UnixListener).SetUnlinkOnClose(false) // the address can be a /proc path, which Close must not remove
	}
	return listener, err
}

// answer answers a question.
func answer(ctx context.Context, server *fusefs.Server, conn net.Conn) {
	defer conn.Close()
	question := make([]byte, 128)
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	n, err := conn.Read(question)
	if err != nil {
		return
	}
	var a controlAnswer
	asked := strings.TrimSpace(string(question[:n]))
	if asked == askSettle {
		a.Pending = server.Settle(ctx)
	} else if key, ok := strings.CutPrefix(asked, askDismiss); ok {
		if err := server.Dismiss(ctx, key); err != nil {
			a.Problem = err.Error()
		}
	}
	_ = json.NewEncoder(conn).Encode(a) // the client may be gone
}

// ask sends a question to the server of a mount. If that does not answer in time, the error is os.ErrDeadlineExceeded.
func (m Mount) ask(ctx context.Context, question string) (controlAnswer, error) {
	address, release, err := socketAddress(controlPath(m.note))
	if err != nil {
		return controlAnswer{}, err
	}
	defer release()
	var a controlAnswer
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte(question)); err != nil {
		return a, err
	}
	return a, json.NewDecoder(conn).Decode(&a)
}

// socketAddress returns an address for a socket, even if its path is too long for a
// socket address (unix(7)). The caller must call release after use.
func socketAddress(path string) (address string, release func(), err error) {
	const longest = 100
	if len(path) <= longest || runtime.GOOS != "linux" {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}
