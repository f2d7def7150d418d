package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/web"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A site is a server for a repository with a session and a workspace.
type site struct {
	t      *testing.T
	pages  *web.Server
	token  string
	cookie *http.Cookie
	clone  *enginetest.Clone
}

const host = "127.0.0.1:8080"

func newSite(t *testing.T) *site {
	t.Helper()
	c := enginetest.New(t)
	c.Appended("talk", "the secret of this session, with <script>alert(1)</script>")
	s := &site{t: t, clone: c, pages: &web.Server{Sessions: c.SessionManager, Store: c.Store}}
	var ok bool
	if _, s.token, ok = strings.Cut(s.pages.Listen("8080"), "http://"+host+"/?token="); !ok {
		t.Fatal("another address")
	}
	answer := s.ask(http.MethodGet, "/?token="+s.token, nil)
	if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" || len(answer.Result().Cookies()) != 1 {
		t.Fatalf("the token is answered with %d %v", answer.Code, answer.Header())
	}
	s.cookie = answer.Result().Cookies()[0]
	return s
}

// answer answers a request, which change may change.
func (s *site) answer(method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if change != nil {
		change(r)
	}
	answer := httptest.NewRecorder()
	s.pages.ServeHTTP(answer, r)
	return answer
}

// ask is like answer, and checks the headers.
func (s *site) ask(method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	s.t.Helper()
	answer := s.answer(method, target, change)
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := answer.Header().Get(name); got != want {
			s.t.Errorf("%s %s: %s is %q, expected %q", method, target, name, got, want)
		}
	}
	return answer
}

func TestCookie(t *testing.T) {
	s := newSite(t)
	c := s.cookie
	if c.SameSite != http.SameSiteStrictMode || !c.HttpOnly || c.Path != "/" || c.Value == s.token {
		t.Errorf("the cookie is %v", c)
	}
	if answer := s.ask(http.MethodGet, "/?token="+s.token+"&q=x", nil); strings.Contains(answer.Header().Get("Location"), s.token) {
		t.Errorf("the token leads to %q", answer.Header().Get("Location"))
	}
}

// TestAdmission checks where the address with the token leads, from wherever it is opened.
func TestAdmission(t *testing.T) {
	s := newSite(t)
	cookie := s.cookie
	s.cookie = nil
	for name, test := range map[string]struct {
		path, site string
		status     int
		leads      string
	}{
		"typed":                     {"/?token=" + s.token, "none", http.StatusSeeOther, "/"},
		"another page":              {"/s/talk?token=" + s.token + "&page=1", "", http.StatusSeeOther, "/s/talk?page=1"},
		"another host by slashes":   {"//evil.example/?token=" + s.token, "", http.StatusSeeOther, "/"},
		"another host by backslash": {"/%5Cevil.example/?token=" + s.token, "", http.StatusSeeOther, "/%5Cevil.example/"},
		"from another site":         {"/?token=" + s.token, "cross-site", http.StatusOK, "/"},
		"its page elsewhere":        {"/%22%3E%3Cscript%3E?token=" + s.token, "cross-site", http.StatusOK, "/%22%3E%3Cscript%3E"},
		"beginning of the token":    {"/?token=" + s.token[:10], "none", http.StatusForbidden, ""},
		"two tokens":                {"/?token=x&token=" + s.token, "none", http.StatusForbidden, ""},
		"other case":                {"/?token=" + strings.ToLower(s.token), "none", http.StatusForbidden, ""},
		"token of the cookie":       {"/?token=" + cookie.Value, "none", http.StatusForbidden, ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.ask(http.MethodGet, test.path, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", test.site) })
			leads := answer.Header().Get("Location")
			if test.status == http.StatusOK {
				s.safe(test.path, answer.Body.String())
				if strings.Contains(answer.Body.String(), `content="0;url=`+test.leads+`"`) {
					leads = test.leads
				}
			}
			if answer.Code != test.status || leads != test.leads {
				t.Errorf("%d, leads to %q", answer.Code, leads)
			}
			if cookies := answer.Result().Cookies(); (len(cookies) == 1 && cookies[0].Value == cookie.Value) != (test.leads != "") {
				t.Errorf("the cookies are %v", cookies)
			}
		})
	}
	// The cookie is that of this server, and of its name.
	for name, value := range map[string]string{cookie.Name: s.token, "domarkx-80": cookie.Value, "domarkx": cookie.Value} {
		if answer := s.ask(http.MethodGet, "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: name, Value: value}) }); answer.Code != http.StatusForbidden {
			t.Errorf("the cookie %s=%s gets %d", name, value, answer.Code)
		}
	}
}

func TestGuard(t *testing.T) {
	s := newSite(t)
	without := func(r *http.Request) { r.Header.Del("Cookie") }
	asHost := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	from := func(site string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", site) }
	}
	for name, test := range map[string]struct {
		method, path string
		change       func(*http.Request)
		status       int
	}{
		"own":              {http.MethodGet, "/s/talk", nil, http.StatusOK},
		"head":             {http.MethodHead, "/s/talk", nil, http.StatusOK},
		"localhost":        {http.MethodGet, "/s/talk", asHost("localhost:8080"), http.StatusOK},
		"no cookie":        {http.MethodGet, "/s/talk", without, http.StatusForbidden},
		"wrong token":      {http.MethodGet, "/s/talk?token=x", nil, http.StatusForbidden},
		"no token":         {http.MethodGet, "/s/talk?token=", nil, http.StatusForbidden},
		"another host":     {http.MethodGet, "/s/talk", asHost("evil.example"), http.StatusMisdirectedRequest},
		"rebound name":     {http.MethodGet, "/s/talk", asHost("evil.example:8080"), http.StatusMisdirectedRequest},
		"another port":     {http.MethodGet, "/s/talk", asHost("127.0.0.1:80"), http.StatusMisdirectedRequest},
		"another site":     {http.MethodGet, "/s/talk", from("cross-site"), http.StatusForbidden},
		"of another port":  {http.MethodGet, "/s/talk", from("same-site"), http.StatusForbidden},
		"post":             {http.MethodPost, "/s/talk", nil, http.StatusMethodNotAllowed},
		"put":              {http.MethodPut, "/s/talk", nil, http.StatusMethodNotAllowed},
		"delete":           {http.MethodDelete, "/s/talk", nil, http.StatusMethodNotAllowed},
		"options":          {http.MethodOptions, "/s/talk", nil, http.StatusMethodNotAllowed},
		"trace":            {http.MethodTrace, "/s/talk", nil, http.StatusMethodNotAllowed},
		"session upwards":  {http.MethodGet, "/s/../../etc/passwd", nil, http.StatusBadRequest},
		"version upwards":  {http.MethodGet, "/v/..%2f..%2fetc/passwd", nil, http.StatusNotFound},
		"file upwards":     {http.MethodGet, "/v/" + s.clone.Tip("talk").ID + "/../../HEAD", nil, http.StatusNotFound},
		"attachment":       {http.MethodGet, "/a/talk?sha256=..%2f..%2fHEAD", nil, http.StatusNotFound},
		"session's commit": {http.MethodGet, "/v/" + s.clone.Tip("talk").ID + "/", nil, http.StatusNotFound},
		"its changes":      {http.MethodGet, "/c/" + s.clone.Tip("talk").ID, nil, http.StatusNotFound},
		"missing object":   {http.MethodGet, "/v/" + strings.Repeat("1", 40) + "/", nil, http.StatusNotFound},
		"missing session":  {http.MethodGet, "/s/none", nil, http.StatusNotFound},
		"missing message":  {http.MethodGet, "/m/talk?k=9", nil, http.StatusNotFound},
		"missing page":     {http.MethodGet, "/x", nil, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.ask(test.method, test.path, test.change)
			if answer.Code != test.status {
				t.Errorf("status %d, expected %d\n%s", answer.Code, test.status, answer.Body)
			}
			if test.status != http.StatusOK && strings.Contains(answer.Body.String(), "the secret") {
				t.Error("the answer has something of the session")
			}
			if len(answer.Result().Cookies()) > 0 {
				t.Error("the answer sets a cookie")
			}
		})
	}
}

// TestDefaultPort checks that the server also answers at the port that browsers leave out.
func TestDefaultPort(t *testing.T) {
	s := &web.Server{}
	s.Listen("80")
	for host, status := range map[string]int{"127.0.0.1": 403, "127.0.0.1:80": 403, "localhost": 403, "127.0.0.1:8080": 421, "evil.example": 421} {
		r, answer := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Host = host
		if s.ServeHTTP(answer, r); answer.Code != status {
			t.Errorf("%s: status %d, expected %d", host, answer.Code, status)
		}
	}
}

func TestPagesRunNothing(t *testing.T) {
	s := newSite(t)
	page := s.ask(http.MethodGet, "/s/talk", nil)
	body := page.Body.String()
	if strings.Contains(body, "<script>alert") || !strings.Contains(body, "&lt;script&gt;alert") {
		t.Errorf("the text of a message is not escaped:\n%s", body)
	}
	policy := page.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}
