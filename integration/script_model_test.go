package integration_test

import (
	"encoding/json"
	"os"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider/providertest"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptModel implements "model FILE", which starts a strict model server that gives the replies
// in a file, a JSON array of providertest.Reply, and sets MODEL_URL, GEMINI_URL and MODEL_KEY. The
// server ends with the script, which fails if it got more requests. "model FILE" again adds
// replies.
func scriptModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	var replies []providertest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	if s, ok := ts.Value(modelServer{}).(*modelServer); ok && s.Server != nil {
		s.Add(replies...)
		return
	} else if ok {
		s.Server = providertest.Start(replies...)
		ts.Defer(func() { ts.Check(s.End()) })
		ts.Setenv("MODEL_URL", s.Base())
		ts.Setenv("GEMINI_URL", s.Gemini())
		ts.Setenv("MODEL_KEY", providertest.Key)
	}
}

// A modelServer is the model server of one script; nil until it is started.
type modelServer struct{ *providertest.Server }

// scriptModelRequests implements "model-requests FILE", which writes the bodies of the requests
// that the model server got, a line each, to a file.
func scriptModelRequests(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value(modelServer{}).(*modelServer)
	if neg || len(args) != 1 || !ok || s.Server == nil {
		ts.Fatalf("usage: model-requests FILE, after model")
	}
	var lines []byte
	for _, r := range s.Requests() {
		lines = append(append(lines, r.Body...), '\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines, 0o600))
}
