package mcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A headerGuard sends requests to one URL, with the headers of the config, and to no other. It
// bounds the responses. It implements [http.RoundTripper].
type headerGuard struct {
	url     *url.URL
	headers http.Header
	limit   int64 // bytes of a response
	base    *http.Transport
	broken  atomic.Bool // the connection has to be made again
	closed  atomic.Bool
}

// errRedirect is the answer to a redirect: it would take the headers, or the call, elsewhere.
var errRedirect = errors.New("it redirects to another URL, which is refused; put the final URL into the config")

func refuseRedirect(*http.Request, []*http.Request) error { return errRedirect }

// guard returns the guard of the resource's URL, which the user must have allowed.
func (r *resource) guard() (*headerGuard, error) {
	value, _ := r.env.Config.Get("url")
	written, _ := r.env.Written.Get("url")
	shown := value.Text()
	if written.Kind() == jsonvalue.String {
		shown = written.Text()
	}
	target, err := parseURL(value.Text())
	if err != nil {
		return nil, err
	}
	if !isAllowed(value.Text(), r.env.Allow.URLs) {
		return nil, domarkx.NewToolError(domarkx.CodeRefused, "your configuration does not allow this URL; if you want it: git config --add domarkx.allowURL %q", shown)
	}
	headers := http.Header{}
	list, _ := r.env.Config.Get("headers")
	for _, m := range list.Members() {
		if isReserved(m.Name) {
			return nil, domarkx.NewToolError(domarkx.CodeInvalid, "header %q is set by the protocol, not by the config", m.Name)
		}
		headers.Set(m.Name, m.Value.Text())
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, DialContext: dialer.DialContext}
	if target.Scheme == "http" {
		base.Proxy, base.ForceAttemptHTTP2 = nil, false
		dialer.Control = onlyLoopback
	}
	return &headerGuard{url: target, headers: headers, limit: int64(r.limits.message), base: base}, nil
}

// parseURL returns the URL of a server. Plain HTTP is only for this machine.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, domarkx.NewToolError(domarkx.CodeInvalid, "the URL cannot be read")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, domarkx.NewToolError(domarkx.CodeInvalid, "expected a URL of https, or of http on this machine")
	case u.User != nil:
		return nil, domarkx.NewToolError(domarkx.CodeInvalid, "the URL has a user name; put credentials into headers")
	case u.Fragment != "" || strings.ContainsAny(text, "\\#") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, domarkx.NewToolError(domarkx.CodeInvalid, "the URL has a fragment, a backslash, a space or a control character")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, domarkx.NewToolError(domarkx.CodeRefused, "http without TLS is only for this machine (localhost, 127.0.0.1, [::1]); use https")
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == ".." || part == "." {
			return nil, domarkx.NewToolError(domarkx.CodeInvalid, "the URL has %q in its path", part)
		}
	}
	return u, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// onlyLoopback refuses connections to other machines, whatever a name resolves to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err == nil && !isLoopback(host) {
		err = fmt.Errorf("%s is not on this machine", host)
	}
	return err
}

// isAllowed reports whether a URL begins with one of the prefixes, which end where a component of
// the URL does.
func isAllowed(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		rest, ok := strings.CutPrefix(text, p)
		return ok && p != "" && (rest == "" || strings.ContainsRune("/?", rune(rest[0])) || strings.HasSuffix(p, "/") || strings.HasSuffix(p, ":"))
	})
}

// isReserved reports whether the protocol or HTTP itself sets a header.
func isReserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "mcp-") || strings.HasPrefix(name, "proxy-") || slices.Contains([]string{"accept", "accept-encoding", "connection", "content-length", "content-type",
		"host", "last-event-id", "te", "trailer", "transfer-encoding", "upgrade"}, name)
}

func (g *headerGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.closed.Load() {
		return nil, errors.New("the connection was closed")
	}
	if req.URL.String() != g.url.String() {
		return nil, fmt.Errorf("a request to another URL than that of the config is refused")
	}
	req = req.Clone(req.Context())
	for name, values := range g.headers {
		req.Header[name] = values
	}
	resp, err := g.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: g.limit, guard: g}
	return resp, nil
}

// close ends all requests.
func (g *headerGuard) close() {
	g.closed.Store(true)
	g.base.CloseIdleConnections()
}

// A boundedBody fails when a response is too long, or the connection was closed.
type boundedBody struct {
	io.ReadCloser
	left  int64
	guard *headerGuard
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.guard.closed.Load() {
		return 0, errors.New("the connection was closed")
	}
	if b.left <= 0 {
		b.guard.broken.Store(true)
		return 0, fmt.Errorf("it answered with more than %d MiB", b.guard.limit>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
