package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

type mcpCmd struct {
	Write   bool    `help:"Offer also the tools append and fork, which change nothing that exists and run nothing."`
	Session *string `placeholder:"PATTERN" help:"Offer only sessions whose name matches, as for list."`
	HTTP    string  `name:"http" placeholder:"ADDRESS" help:"Serve at an address of this machine, such as 127.0.0.1:8765, not on standard input and output. Port 0 chooses one."`
}

// tokenVariable is the environment variable with the token of mcp --http.
const tokenVariable = "DOMARKX_MCP_TOKEN"

func (c *mcpCmd) prepare(*invocation) error {
	if c.Session == nil {
		c.Session = new(string)
	} else if *c.Session == "" {
		return usagef("--session has no pattern; without the option all sessions are offered")
	}
	return nil
}

func (c *mcpCmd) Run(inv *invocation, opened managers) error {
	inv.boundMemory(opened)
	s := &mcpserver.Server{Sessions: opened.sessions, Turns: opened.turns, Store: opened.store, Write: c.Write, Pattern: *c.Session, Version: versionText(release, commit, buildInfo()), Warn: inv.warn}
	server, err := s.New()
	if err != nil {
		return badValue("--session", err)
	}
	if c.HTTP != "" {
		return c.serveHTTP(inv, server)
	}
	err = server.Run(inv.ctx, mcpserver.Stdio(inv.in, unbuffered{inv.out}))
	if errors.Is(err, io.EOF) || inv.ctx.Err() != nil {
		return context.Cause(inv.ctx)
	}
	if err != nil {
		return fmt.Errorf("reading a message of JSON-RPC from standard input: %w", err)
	}
	return nil
}

// unbuffered writes each message at once.
type unbuffered struct{ *output }

func (u unbuffered) Write(p []byte) (int, error) {
	n, err := u.output.Write(p)
	return n, errors.Join(err, u.Flush())
}

func (u unbuffered) Close() error { return u.Flush() }

func (c *mcpCmd) serveHTTP(inv *invocation, server *sdk.Server) error {
	token := inv.getenv(tokenVariable)
	if token != "" && len(token) < 16 {
		return usagef("the token in %s has fewer than 16 characters", tokenVariable)
	}
	line := ""
	if token == "" {
		token = mcpserver.NewToken()
		line = "\t" + token
	}
	listener, err := mcpserver.Listen(c.HTTP)
	if err != nil {
		return badValue("--http", err)
	}
	fmt.Fprintf(inv.out, "http://%s%s%s\n", listener.Addr(), mcpserver.Path, line)
	if err := inv.out.Flush(); err != nil {
		return errors.Join(err, listener.Close())
	}
	h := mcpserver.NewHTTP(mcpserver.Handler(server, listener.Addr(), token))
	stop := context.AfterFunc(inv.ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if h.Shutdown(ctx) != nil {
			h.Close()
		}
	})
	defer stop()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(inv.ctx)
}
