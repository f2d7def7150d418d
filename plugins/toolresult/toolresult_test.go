package toolresult_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/toolresult"
)

func TestResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", toolresult.Limit-1) + "é"
	for _, c := range []struct {
		name    string
		written []string
		status  toolresult.Status
		want    string // the value; … stands for a long text
		whole   string
	}{
		{"empty", nil, toolresult.Status{}, `{"exit_code":0,"output":""}`, ""},
		{"text", []string{"o", "k\n"}, toolresult.Status{ExitCode: 3}, `{"exit_code":3,"output":"ok\n"}`, ""},
		{"timed out", []string{"x"}, toolresult.Status{ExitCode: 137, TimedOut: true}, `{"exit_code":-1,"output":"x","timed_out":true}`, ""},
		{"bytes", []string{"\xff\x00"}, toolresult.Status{}, `{"exit_code":0,"output_base64":"/wA="}`, ""},
		{"long", []string{long[:10], long[10:]}, toolresult.Status{},
			`{"exit_code":0,"output":"` + strings.Repeat("a", toolresult.Limit-1) + `","truncated":true,"bytes":1048577}`, long},
		{"exactly the limit", []string{long[:toolresult.Limit-1], "b"}, toolresult.Status{},
			`{"exit_code":0,"output":"` + strings.Repeat("a", toolresult.Limit-1) + `b"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := toolresult.NewSpool(dir)
			for _, p := range c.written {
				if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			r, err := s.Result(c.status)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Value.JSON(); got != c.want {
				t.Errorf("value is %.200s\nnot %.200s", got, c.want)
			}
			if (r.Attachment != nil) != (c.whole != "") {
				t.Fatalf("attachment: %v", r.Attachment)
			}
			if r.Attachment != nil {
				whole, err := io.ReadAll(r.Attachment)
				if err != nil || string(whole) != c.whole {
					t.Errorf("the attachment has %d bytes (%v), not %d", len(whole), err, len(c.whole))
				}
				if err := r.Attachment.Close(); err != nil {
					t.Error(err)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}
