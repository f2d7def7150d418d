package openpocket

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	format "github.com/domarkx/domarkx/format/openpocket"
)

var sessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^session-(\d{8}-\d{6})\.md$`) })

func sessionPath(id string) string { return sessionsDir + "/session-" + id + ".md" }

// maxTries limits how many seconds are tried for the id of a session.
const maxTries = 3600

// startSession creates the document of a session. If the id of this second exists, it uses the
// next free one.
func (r *resource) startSession(_ context.Context, a arguments) (jsonvalue.Value, error) {
	when := a.when()
	for n := range maxTries {
		id := when.Add(time.Duration(n) * time.Second).Format(stampFormat)
		doc, escaped := format.Begin(format.Session{ID: id, StartedAt: iso(when),
			ModelProfile: a.text("model_profile"), ModelName: a.text("model_name"), Task: a.text("task")})
		err := r.create(sessionPath(id), 0o644, doc)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return jsonvalue.Value{}, err
		}
		return withEscaped(jsonvalue.ObjectOf("id", id, "path", sessionPath(id)), escaped), nil
	}
	return jsonvalue.Value{}, domarkx.NewToolError(domarkx.CodeFailed, "there are sessions in each second of an hour after %s", when.Format(stampFormat))
}

// withEscaped adds to a result that some lines were indented by a blank.
func withEscaped(v jsonvalue.Value, escaped bool) jsonvalue.Value {
	if escaped {
		return v.With("escaped", jsonvalue.BoolValue(true))
	}
	return v
}

func (r *resource) newestSession() (string, error) {
	names, err := r.names(sessionsDir)
	if err != nil {
		return "", err
	}
	newest := ""
	for _, name := range names {
		if m := sessionName().FindStringSubmatch(name); m != nil {
			newest = max(newest, m[1])
		}
	}
	if newest == "" {
		return "", domarkx.NewToolError(domarkx.CodeNotFound, "there is no session; begin one with start_session")
	}
	return newest, nil
}

// session returns the id and document of the session that a call names by id, file name or path.
func (r *resource) session(a arguments) (id string, document []byte, err error) {
	named := a.text("session")
	id = strings.TrimSuffix(strings.TrimPrefix(named, "session-"), ".md")
	if dir, name := path.Split(named); dir != "" {
		m := sessionName().FindStringSubmatch(name)
		if m == nil || strings.TrimPrefix(path.Clean(dir), "workspace/") != "sessions" {
			return "", nil, invalid("session %q is neither the id of a session nor a path such as %s", named, sessionPath("20260218-130000"))
		}
		id = m[1]
	}
	if !sessionName().MatchString("session-" + id + ".md") {
		return "", nil, invalid("session %q is not the id of a session, such as 20260218-130000", named)
	}
	document, err = r.read(sessionPath(id))
	if err != nil {
		return "", nil, err
	}
	if !format.Detect(document, "") {
		return "", nil, invalid("%q is not a session of OpenPocket", sessionPath(id))
	}
	return id, document, nil
}

func (r *resource) appendStep(_ context.Context, a arguments) (jsonvalue.Value, error) {
	id, document, err := r.session(a)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	number := 0
	if a.has("step") {
		number, err = integer(a, "step")
	} else if last := format.LastStep(document); last != "" {
		if number, err = strconv.Atoi(last); number >= maxInteger {
			err = strconv.ErrRange
		}
		number++
	} else {
		number = 1
	}
	if err != nil {
		return jsonvalue.Value{}, invalid("the last step has no valid number; give the number of this one as step")
	}
	action, _ := a.Get("action")
	block, escaped := format.NextStep(document, format.Step{Number: strconv.Itoa(number), At: iso(a.when()), Thought: a.text("thought"),
		Action: format.WellFormed(string(action.AppendJSON(nil, "", "  "))), Result: a.text("result")})
	if err := r.extend(sessionPath(id), block); err != nil {
		return jsonvalue.Value{}, err
	}
	return withEscaped(jsonvalue.ObjectOf("id", id, "path", sessionPath(id), "step", number), escaped), nil
}

// finishSession appends the end of a session.
func (r *resource) finishSession(_ context.Context, a arguments) (jsonvalue.Value, error) {
	id, document, err := r.session(a)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	block, escaped := format.NextFinal(document, format.Final{Status: a.text("status"), EndedAt: iso(a.when()), Message: a.text("message")})
	if err := r.extend(sessionPath(id), block); err != nil {
		return jsonvalue.Value{}, err
	}
	return withEscaped(jsonvalue.ObjectOf("id", id, "path", sessionPath(id), "status", a.text("status")), escaped), nil
}

// maxInteger is the largest integer argument, and the number of the last step.
const maxInteger = 1e15

// integer returns an integer argument; 1.0 is an integer, too.
func integer(a arguments, name string) (int, error) {
	f, err := strconv.ParseFloat(a.text(name), 64)
	if err != nil || f != float64(int(f)) || f > maxInteger {
		return 0, invalid("%s is %s, which is too large", name, a.text(name))
	}
	return int(f), nil
}
