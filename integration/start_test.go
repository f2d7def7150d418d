package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxProgram is the size of the program in bytes, as make build links it. Where it is exceeded, ask the linker for the cause:
// go build -ldflags=-dumpdep 2>&1 | grep ReflectMethod. If a reachable function looks up methods by name, as text/template and
// kong.Parse do, every exported method of every type is kept, which adds a third.
const maxProgram = 38_000_000

func TestProgramIsSmall(t *testing.T) {
	info, err := os.Stat(filepath.Join(program(t), "git-domarkx"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxProgram {
		t.Errorf("the program has %d bytes, more than %d", info.Size(), maxProgram)
	}
}

// heavyStarts are the packages that allocate much when the program starts, and how many bytes they may: mostly for regular
// expressions. All commands and each hook pay for that.
var heavyStarts = map[string]int{
	"github.com/yuin/goldmark/extension":                   280_000,
	"github.com/yuin/goldmark/util":                        150_000,
	"github.com/yuin/goldmark/parser":                      120_000,
	"github.com/google/jsonschema-go/jsonschema":           90_000,
	"github.com/hanwen/go-fuse/v2/fuse":                    60_000,
	"github.com/segmentio/encoding/json":                   60_000,
	"go.yaml.in/yaml/v4/internal/libyaml":                  40_000,
	"github.com/domarkx/domarkx/git-domarkx":               40_000,
	"github.com/klauspost/compress/flate":                  40_000,
	"github.com/ProtonMail/go-crypto/openpgp/internal/ecc": 40_000,
}

// TestStartIsCheap checks what packages allocate before main begins. A package of this module that is named here has a regular
// expression or a large map in a variable: make it when it is first needed, with sync.OnceValue.
func TestStartIsCheap(t *testing.T) {
	cmd := exec.Command(filepath.Join(program(t), "git-domarkx"), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(trace.String(), -1)
	if len(lines) < 50 {
		t.Fatalf("no trace of the start:\n%s", trace.String())
	}
	total := 0
	for _, line := range lines {
		bytes, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		total += bytes
		name := line[1]
		if name == "main" {
			name = module + "/git-domarkx"
		}
		limit, ok := heavyStarts[name]
		switch {
		case ok:
		case strings.HasPrefix(name, module):
			limit = 16_000
		default:
			limit = 35_000
		}
		if bytes > limit {
			t.Errorf("%s allocates %d bytes when the program starts, more than %d", name, bytes, limit)
		}
	}
	if total > 1_300_000 {
		t.Errorf("the packages allocate %d bytes when the program starts", total)
	}
}

// BenchmarkStart compares the processor time of commands that do little with git version.
func BenchmarkStart(b *testing.B) {
	s := newSite(b)
	used := make([][]time.Duration, 3)
	for range 25 {
		for i, line := range [][]string{{"git", "version"}, {"git-domarkx", "version"}, {"git-domarkx", "agent", "hook", "claude-code", "Stop"}} {
			cpu, _ := s.used(line[0], line[1:]...)
			used[i] = append(used[i], cpu)
		}
	}
	git := median(used[0])
	for i, what := range []string{"version", "agent hook"} {
		score(b, fmt.Sprintf("git-domarkx %s: CPU, against git version", what), ratio(median(used[i+1]), git), 7, "x")
		score(b, fmt.Sprintf("git-domarkx %s: CPU", what), milliseconds(median(used[i+1])), 15, "ms")
	}
	info, err := os.Stat(filepath.Join(program(b), "git-domarkx"))
	if err != nil {
		b.Fatal(err)
	}
	score(b, "size of the program", float64(info.Size())/1e6, maxProgram/1e6, "MB")
}
