package engineapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of an answer, in bytes. A container in a list takes some kilobytes.
const (
	maxAnswer = 16 << 20
	maxError  = 8 << 10
)

// Errors that an [*Error] matches.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
)

// An Error is the answer of an engine to a request that failed.
type Error struct {
	Status  int // of HTTP
	Message string
}

func (e *Error) Error() string { return e.Message }

// Is makes the error match [ErrNotFound] and [ErrConflict] by its status.
func (e *Error) Is(target error) bool {
	return target == ErrNotFound && e.Status == http.StatusNotFound || target == ErrConflict && e.Status == http.StatusConflict
}

// A ConnectionError reports that no engine answered.
type ConnectionError struct{ err error }

func (e *ConnectionError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.err }

// A Client sends requests to one engine.
type Client struct {
	host      string  // as in DOCKER_HOST
	base      url.URL // without the version
	version   int     // N of the API's version 1.N; 0 until Ping
	transport *http.Transport
}

// New returns a client for the engine that these variables name, read with getenv:
//
//	DOCKER_HOST         unix://PATH or tcp://HOST:PORT[/PREFIX]; default unix:///var/run/docker.sock
//	DOCKER_CERT_PATH    a directory with ca.pem, cert.pem and key.pem: a connection by tcp uses TLS
//	DOCKER_TLS_VERIFY   if not empty, the engine's certificate is verified
//	DOCKER_API_VERSION  the version of the API, such as 1.41; default the newest that both sides know
//
// It makes no connection.
func New(getenv func(string) string) (*Client, error) {
	c := &Client{
		host:      cmp.Or(getenv("DOCKER_HOST"), "unix:///var/run/docker.sock"),
		base:      url.URL{Scheme: "http"},
		transport: &http.Transport{DisableCompression: true, IdleConnTimeout: 30 * time.Second},
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	kind, address, _ := strings.Cut(c.host, "://")
	switch {
	case kind == "unix" && address != "":
		c.base.Host = "docker.localhost" // HTTP wants a name; it is not looked up
		c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", address)
		}
	case kind == "tcp" && address != "":
		parsed, err := url.Parse(c.host)
		if err != nil {
			return nil, fmt.Errorf("read DOCKER_HOST: %w", err)
		}
		c.base.Host, c.base.Path = parsed.Host, strings.TrimRight(parsed.Path, "/")
		c.transport.DialContext = dialer.DialContext // not through a proxy, which Attach could not use
	default:
		return nil, fmt.Errorf("DOCKER_HOST is %q, expected unix://PATH or tcp://HOST:PORT", c.host)
	}
	if dir := getenv("DOCKER_CERT_PATH"); dir != "" && kind == "tcp" { // engines speak no TLS on sockets
		c.base.Scheme = "https"
		var err error
		if c.transport.TLSClientConfig, err = tlsConfig(dir, getenv("DOCKER_TLS_VERIFY") != ""); err != nil {
			return nil, fmt.Errorf("read the certificates in DOCKER_CERT_PATH: %w", err)
		}
	}
	if v := strings.TrimPrefix(strings.TrimSpace(getenv("DOCKER_API_VERSION")), "v"); v != "" {
		var err error
		if c.version, err = parseVersion(v); err != nil {
			return nil, fmt.Errorf("read DOCKER_API_VERSION: %w", err)
		}
	}
	return c, nil
}

func tlsConfig(dir string, verify bool) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}, InsecureSkipVerify: !verify}
	if !verify {
		return config, nil
	}
	name := filepath.Join(dir, "ca.pem")
	authority, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if config.RootCAs, err = x509.SystemCertPool(); err != nil {
		return nil, err
	}
	if !config.RootCAs.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%q has no certificate", name)
	}
	return config, nil
}

// Host returns the engine's address as in DOCKER_HOST.
func (c *Client) Host() string { return c.host }

// Close closes the connections that are idle. Those of Attach stay.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// call makes a request with the version's prefix. Unless they are nil, in is sent as JSON, or as it is if it is a reader, and
// the answer is decoded into out.
func (c *Client) call(ctx context.Context, method, at string, query url.Values, in, out any) error {
	body, kind := io.Reader(http.NoBody), "application/json"
	switch in := in.(type) {
	case nil:
		kind = ""
	case io.Reader:
		body, kind = in, "application/x-tar"
	default:
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	answer, err := c.send(ctx, method, at, query, body, http.Header{"Content-Type": {kind}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, at, err)
	}
	if len(data) > maxAnswer {
		return fmt.Errorf("the answer to %s %s is longer than %d MB", method, at, maxAnswer>>20)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, at, err)
	}
	return nil
}

// send makes a request and returns its answer, unless it is an error.
func (c *Client) send(ctx context.Context, method, at string, query url.Values, body io.Reader, header http.Header) (*http.Response, error) {
	if path.Clean(at) != at { // a name of an image like ../containers
		return nil, &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no such object: %q", at)}
	}
	to := c.base
	if at != pingPath {
		to.Path += fmt.Sprintf("/v1.%d", c.version)
	}
	to.Path += at
	to.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header = header
	// The transport alone follows no redirect, which would turn a POST into a GET.
	answer, err := c.transport.RoundTrip(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &ConnectionError{err}
	case answer.StatusCode/100 == 2 || answer.StatusCode == http.StatusSwitchingProtocols || answer.StatusCode == http.StatusNotModified: // it runs already
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, readError(answer)
}

// readError reads the message of an answer: JSON from an engine, text or HTML from a proxy.
func readError(answer *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxError))
	var said struct{ Message string }
	if json.Unmarshal(data, &said) != nil {
		said.Message = string(data)
	}
	message := strings.TrimSpace(said.Message)
	if message == "" || err != nil {
		message = strings.TrimSpace(answer.Status + " " + message)
	}
	return &Error{Status: answer.StatusCode, Message: message}
}

const pingPath = "/_ping"

// The references of these versions, 1.40 to 1.56, describe all that this package sends and reads.
const oldest, newest = 40, 56

// parseVersion returns N of a version 1.N of the API.
func parseVersion(s string) (int, error) {
	minor, ok := strings.CutPrefix(s, "1.")
	n, err := strconv.ParseUint(minor, 10, 16)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a version of the API like 1.41", s)
	}
	return int(n), nil
}

// Ping asks which system, such as linux, the containers of the engine have, and agrees with it on the version of the API
// unless DOCKER_API_VERSION sets it. It comes before other requests.
func (c *Client) Ping(ctx context.Context) (system string, err error) {
	answer, err := c.send(ctx, http.MethodGet, pingPath, nil, http.NoBody, http.Header{})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxError)) // then the connection can be used again
	system, most := answer.Header.Get("Ostype"), answer.Header.Get("Api-Version")
	if c.version != 0 {
		return system, nil
	}
	if most == "" {
		return "", errors.New("the answer names no version of the API; if this is a Docker engine, set DOCKER_API_VERSION")
	}
	n, err := parseVersion(most)
	if err != nil {
		return "", err
	}
	if n < oldest {
		return "", fmt.Errorf("it speaks version %s of the API, and 1.%d is needed; install a newer engine", most, oldest)
	}
	c.version = min(n, newest)
	return system, nil
}
