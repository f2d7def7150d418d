package openpocket

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	format "github.com/domarkx/domarkx/format/openpocket"
	"github.com/domarkx/domarkx/plugins"
)

const (
	maxScript = 12_000 // UTF-16 units
	maxOutput = 6_000  // of each log, UTF-16 units
)

// A run is the record of a script run.
type run struct {
	id             string
	exit           jsonvalue.Value // null without an exit code
	timedOut       bool
	duration       int // in milliseconds
	stdout, stderr string
}

// dir returns the directory of a run.
func (u run) dir() string { return runsDir + "/run-" + u.id }

// value returns the content of result.json.
func (u run) value() jsonvalue.Value {
	return jsonvalue.ObjectOf("ok", u.exit.Text() == "0" && !u.timedOut, "runId", u.id, "runDir", u.dir(), "scriptPath", u.dir()+"/script.sh",
		"exitCode", u.exit, "timedOut", u.timedOut, "durationMs", u.duration, "stdout", u.stdout, "stderr", u.stderr)
}

// runScript runs a script and stores it with its output. A script that is refused has no logs.
func (r *resource) runScript(ctx context.Context, a arguments) (jsonvalue.Value, error) {
	if own, ok := plugins.OwnTimeout(a.Value); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, own)
		defer cancel()
	}
	u := run{id: a.text("run_id")}
	if a.has("duration_ms") {
		var err error
		if u.duration, err = integer(a, "duration_ms"); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	script := strings.TrimFunc(a.text("script"), isSpace)
	err := r.create(u.dir()+"/script.sh", 0o700, []byte(script+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return jsonvalue.Value{}, invalid("run %q is there already; give another run_id, or none", u.id)
	}
	if err != nil {
		return jsonvalue.Value{}, err
	}
	_, long := firstUnits(a.text("script"), maxScript)
	switch {
	case script == "":
		u.stderr = "Script is empty."
	case long:
		u.stderr = "Script exceeds max length (12000 characters)."
	}
	if u.stderr != "" {
		return u.value(), r.record(u)
	}
	began := time.Now()
	if err := r.bash(ctx, &u); err != nil {
		return jsonvalue.Value{}, err
	}
	took := int(time.Since(began).Milliseconds())
	for _, log := range []struct{ name, text string }{{"stdout.log", u.stdout}, {"stderr.log", u.stderr}} {
		if err := r.create(u.dir()+"/"+log.name, 0o644, []byte(log.text+"\n")); err != nil {
			return jsonvalue.Value{}, r.taken(err, u.dir()+"/"+log.name)
		}
	}
	if err := r.record(u); err != nil {
		return jsonvalue.Value{}, err
	}
	u.duration = took // not written to files, so that the same call writes the same files
	return u.value(), nil
}

// record writes result.json.
func (r *resource) record(u run) error {
	name := u.dir() + "/result.json"
	return r.taken(r.create(name, 0o644, []byte(format.WellFormed(string(u.value().AppendJSON(nil, "", "  ")))+"\n")), name)
}

// taken returns the error for a file that the script itself created.
func (r *resource) taken(err error, name string) error {
	if errors.Is(err, fs.ErrExist) {
		return domarkx.NewToolError(domarkx.CodeFailed, "%q is there already: the script made it", name)
	}
	return err
}

func (r *resource) bash(ctx context.Context, u *run) error {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return domarkx.NewToolError(domarkx.CodeNotFound, "scripts need the program \"bash\", which is not on PATH; install it")
	}
	if err := r.makeDir(scriptsDir); err != nil {
		return err
	}
	var stdout, stderr capture
	file := filepath.Join(r.Path(), filepath.FromSlash(u.dir()), "script.sh")
	status, err := r.sandbox.Run(ctx, filepath.Join(r.Path(), filepath.FromSlash(scriptsDir)), bash, []string{"bash", file}, &stdout, &stderr)
	if err != nil {
		return err
	}
	u.stdout, u.stderr = stdout.text(), stderr.text()
	if status.Over != "" {
		u.stderr += "\nended, because it had " + status.Over
	}
	if u.timedOut = status.TimedOut; !u.timedOut {
		u.exit = jsonvalue.NumberValue(strconv.Itoa(status.ExitCode))
	}
	return nil
}

// A capture keeps the beginning of an output.
type capture struct{ b bytes.Buffer }

// maxCapture is at least the number of bytes in maxOutput units.
const maxCapture = 4*maxOutput + 4

func (c *capture) Write(p []byte) (int, error) {
	c.b.Write(p[:min(len(p), maxCapture-c.b.Len())])
	return len(p), nil
}

// text returns the output as it is stored.
func (c *capture) text() string {
	text, more := firstUnits(format.WellFormed(c.b.String()), maxOutput)
	if more {
		return text + "\n...[truncated]"
	}
	return text
}
