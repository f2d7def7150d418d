package dockersandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// A session is a running container and the connection to its agent. The container runs as long as the connection.
type session struct {
	*agent.Client
	engine *engine
	id     string
	attach io.ReadWriteCloser
	stderr *tail
}

// start starts a container of an image and sends the first request to its agent. The files in the image's volumes belong to
// the container.
func (e *engine) start(ctx context.Context, id string, i engineapi.Image) (*session, error) {
	attach, err := e.Attach(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach to container %.12s: %w", id, e.explain(err))
	}
	s := &session{engine: e, id: id, attach: attach, stderr: &tail{}}
	s.Client = agent.NewClient(engineapi.Output(attach, s.stderr), attach)
	if err := e.Start(ctx, id); err != nil {
		err = fmt.Errorf("start container %.12s: %w", id, e.explain(err))
		return nil, errors.Join(err, s.end(ctx))
	}
	var keep []string
	for path := range i.Config.Volumes {
		keep = append(keep, strings.Trim(path, "/"))
	}
	if err := s.guard(ctx, func() error { return s.Hello(keep) }); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the agent in container %.12s: %w", id, err), s.end(ctx))
	}
	return s, nil
}

// guard runs f, which makes requests without a context. When ctx ends it closes the connection,
// which also ends the container.
func (s *session) guard(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { s.attach.Close() })
	err := f()
	if !stop() {
		return ctx.Err()
	}
	var request *agent.RequestError
	if err != nil && !errors.As(err, &request) {
		if said := s.stderr.String(); said != "" {
			err = fmt.Errorf("%w; the agent reported: %s", err, said)
		}
	}
	return err
}

// freeze stops all processes in the container except the agent; see [agent.Client.Freeze].
func (s *session) freeze(ctx context.Context) (f agent.Frozen, err error) {
	err = s.guard(ctx, func() (err error) { f, err = s.Freeze(); return err })
	return f, err
}

// end stops the container and everything that runs in it.
func (s *session) end(ctx context.Context) error {
	err := s.engine.kill(ctx, s.id)
	s.attach.Close()
	return err
}

// A tail keeps the last bytes that were written to it.
type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	const most = 2 << 10
	if n := len(t.last); n > most {
		t.last = append(t.last[:0], t.last[n-most:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.last)) }
