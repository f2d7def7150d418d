package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxErrorBody = 1 << 20  // maximum size in bytes of an error response that is read
	maxEvent     = 48 << 20 // maximum number of bytes between two empty lines of a response
)

// CheckURL parses the URL of a provider. It accepts plain HTTP only for this machine. It rejects
// URLs with a user, a password, a query or a fragment. The error matches [ErrPlainHTTP] if plain
// HTTP is not allowed.
func CheckURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("model URL: expected https://HOST/v1 or http://127.0.0.1:PORT/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("model URL of %s: it must not contain a user, a password, a query or a fragment", u.Host)
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return nil, fmt.Errorf("model URL of %s: %w", u.Host, ErrPlainHTTP)
	}
	return u, nil
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// httpClient returns a client for the provider at base. The client sends requests only to that
// host, follows no redirects, and uses plain HTTP only for this machine. It ends a response if no
// byte arrives for the time idle. Its responses use bounded memory.
func httpClient(base *url.URL, idle time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           2,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
	if base.Scheme == "http" {
		t.Proxy = nil
		t.DisableKeepAlives = true    // some local servers close an idle connection just as the next request arrives
		dialer.Control = onlyLoopback // "localhost" can be another address
	}
	return &http.Client{
		Transport:     &transport{next: t, base: base, idle: idle},
		CheckRedirect: func(*http.Request, []*http.Request) error { return ErrRedirect },
	}
}

func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err == nil && !IsLoopback(host) {
		return ErrPlainHTTP
	}
	return err
}

type transport struct {
	next http.RoundTripper
	base *url.URL
	idle time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != t.base.Scheme || r.URL.Host != t.base.Host {
		return nil, fmt.Errorf("request to %s instead of %s: %w", r.URL.Host, t.base.Host, ErrRedirect)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(ErrStalled) })
	end := func() { timer.Stop(); cancel(context.Canceled) }
	r = r.Clone(ctx)
	r.Header.Set("User-Agent", "git-domarkx")
	res, err := t.next.RoundTrip(r)
	if err != nil {
		err = cause(ctx, err)
		end()
		return nil, err
	}
	res.Body = &body{rc: res.Body, ctx: ctx, end: end, progress: func() { timer.Reset(t.idle) }}
	return res, nil
}

// cause returns ErrStalled if err is a consequence of a stalled response, and err otherwise.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrStalled) {
		return ErrStalled
	}
	return err
}

// A body is a response body with limits.
type body struct {
	rc       io.ReadCloser
	ctx      context.Context
	end      func()
	progress func()
	event    int  // number of bytes since the last empty line
	last     byte // the last byte other than a carriage return
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	if n > 0 {
		b.progress()
		if b.count(p[:n]); b.event > maxEvent {
			return 0, ErrTooLarge
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = cause(b.ctx, err)
	}
	return n, err
}

// count updates the size of the current event. An empty line ends an event.
func (b *body) count(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.event += len(p)
			if tail := bytes.TrimRight(p, "\r"); len(tail) > 0 {
				b.last = tail[len(tail)-1]
			}
			return
		}
		line := bytes.TrimRight(p[:i], "\r")
		if len(line) == 0 && b.last == '\n' {
			b.event = 0
		} else {
			b.event += i + 1
		}
		b.last = '\n'
		p = p[i+1:]
	}
}

func (b *body) Close() error {
	err := b.rc.Close()
	b.end()
	return err
}
