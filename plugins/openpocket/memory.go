package openpocket

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// maxMessage limits a result in the memory, in UTF-16 units.
const maxMessage = 400

// appendMemory appends an entry to the memory of a day.
func (r *resource) appendMemory(_ context.Context, a arguments) (jsonvalue.Value, error) {
	status := a.text("status")
	if ok, given := a.Get("ok"); given {
		was := map[bool]string{true: "OK", false: "FAIL"}[ok.IsTrue()]
		if status != "" && status != was {
			return jsonvalue.Value{}, invalid("ok is %s and status is %q; give one of them", ok.Text(), status)
		}
		status = was
	}
	if status == "" {
		return jsonvalue.Value{}, invalid("neither ok nor status is given")
	}
	when := a.when()
	day := when.Format("2006-01-02")
	name := memoryDir + "/" + day + ".md"
	if err := r.create(name, 0o644, []byte("# Memory "+day+"\n\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return jsonvalue.Value{}, err
	}
	// A line of a task must not look like an entry.
	task := strings.ReplaceAll(a.text("task"), "\n- [", "\n - [")
	result, _ := firstUnits(compact(a.text("result")), maxMessage)
	before, err := r.read(name)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	start := ""
	if len(before) > 0 && before[len(before)-1] != '\n' {
		start = "\n"
	}
	entry := "- [" + when.Format("15:04:05") + "] [" + status + "] [" + a.text("model_profile") + "] task: " + task + " | result: " + result + "\n"
	if err := r.extend(name, []byte(start+entry)); err != nil {
		return jsonvalue.Value{}, err
	}
	return withEscaped(jsonvalue.ObjectOf("path", name), task != a.text("task")), nil
}
