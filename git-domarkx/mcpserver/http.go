package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Path is the path of the server's URL.
const Path = "/mcp"

// maxRequest limits the body of a request.
const maxRequest = 4 << 20

// Listen listens at an address of this machine: HOST:PORT, where HOST is localhost or a loopback address, or only a port.
func Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "127.0.0.1", address
	}
	if host == "localhost" || host == "" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("address %q: %w: expected one of this machine, such as 127.0.0.1:8765", address, domarkx.ErrInvalid)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen at %q: %w", address, err)
	}
	return listener, nil
}

// NewToken returns a random token.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Handler returns the handler of the server at the address of a listener. It refuses requests without the token, those for
// other hosts and those that web pages of other origins make.
func Handler(server *sdk.Server, address net.Addr, token string) http.Handler {
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.Handle(Path, mcp)
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(given))
		switch {
		case !isHere(r.Host, address):
			http.Error(w, "this server answers only at its own address", http.StatusForbidden)
		case !isOwnOrigin(r.Header.Values("Origin"), address):
			http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		case !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) == 0:
			h.Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			mux.ServeHTTP(w, r)
		}
	})
}

// isHere reports whether a host is the address at which the server listens, so that no name that somebody
// makes lead to this machine is answered.
func isHere(host string, address net.Addr) bool {
	_, port, err := net.SplitHostPort(address.String())
	if port == "80" { // clients leave out the port that is the default
		host = strings.TrimSuffix(host, ":80") + ":80"
	}
	return err == nil && (host == address.String() || host == "localhost:"+port)
}

func isOwnOrigin(origins []string, address net.Addr) bool {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !isHere(u.Host, address) {
			return false
		}
	}
	return true
}

// NewHTTP returns an HTTP server with limits against clients that keep connections busy.
func NewHTTP(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}
