// Package web shows the sessions and workspaces of a repository to one user, in a browser on the
// same machine, or writes them as pages. It changes nothing in the repository.
//
// Pages of other origins, other users and other machines get nothing: the server listens on the loopback interface, answers only
// requests that name it by its own address, and only with a cookie that the address with the token sets. What sessions and files
// say is escaped; files are sent so that no browser runs them. The Content-Security-Policy forbids all but the own style sheet,
// images inside the page and one script, allowed by its hash.
package web

import (
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
	"github.com/domarkx/domarkx/gitstore"
)

// A Server shows a repository. Its fields must not be changed once it serves.
type Server struct {
	Sessions *engine.SessionManager
	Store    *gitstore.Store
	// Cost returns the cost of a response in USD, if that is known. It may be nil.
	Cost func(model string, u html.Usage) (float64, bool)
	// Reviews shows commits beside the conversation. It may be nil.
	Reviews *review.Manager

	host   string // with the port
	port   string
	token  string
	cookie string // the value of the cookie, which is not the token

	searching sync.Mutex    // the index is used by one search at a time
	making    chan struct{} // holds an element for each page that is being made
}

// Listen prepares a server that is reached at a port of the loopback interface, and returns the
// address to open, which has the token.
func (s *Server) Listen(port string) (address string) {
	s.port, s.host = port, "127.0.0.1:"+port
	s.making = make(chan struct{}, pagesMade)
	s.token, s.cookie = rand.Text(), rand.Text()
	return "http://" + s.host + "/?token=" + s.token
}

var _ http.Handler = (*Server)(nil)
