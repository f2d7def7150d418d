package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// TestStdioEnds checks that cancelling its context ends a server that is answering a request, and that the end of its
// input does not.
func TestStdioEnds(t *testing.T) {
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"append","arguments":{"session":"talk","text":"more"}}}
`
	open, _ := io.Pipe()
	for name, rest := range map[string]io.Reader{"input ended": strings.NewReader(""), "input is open": open} {
		t.Run(name, func(t *testing.T) {
			clone := enginetest.New(t)
			clone.Appended("talk", "hello")
			began, env := make(chan struct{}), clone.Env
			env.Identity = func(ctx context.Context) (author, committer domarkx.Signature, err error) {
				close(began)
				<-ctx.Done()
				return author, committer, ctx.Err()
			}
			s := serverOf(clone)
			s.Write, s.Turns = true, turns.New(clone.SessionManager, trust.New(clone.Store, env), clone.Store, env)
			server, err := s.New()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				ended <- server.Run(ctx, mcpserver.Stdio(io.MultiReader(strings.NewReader(requests), rest), nowhere{io.Discard}))
			}()
			<-began
			select {
			case err := <-ended:
				t.Fatalf("ended with a request in progress: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
