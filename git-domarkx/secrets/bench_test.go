package secrets_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// transcript returns n lines of a made-up transcript in JSON, with ids, prose, code and output.
func transcript(n int) []byte {
	source := ownSource()
	var b bytes.Buffer
	for i := range n {
		code := source[(i*1777)%(len(source)-1500):][:900]
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%s","sessionId":"0b5cbb02-7b5e-4d2a-9d4e-%012x","requestId":"req_%s","message":{"id":"msg_%s","model":"claude","content":[{"type":"text","text":%q},{"type":"tool_use","id":"toolu_%s","input":{"command":"go test ./...","path":%q}}],"usage":{"input_tokens":%d}},"cacheKey":"%s"}`+"\n",
			"0b5cbb02-7b5e-4d2a-9d4e-0e0e2f4a1b2c", i, fake(alnum, i, 24), fake(alnum, i+1, 24), code, fake(alnum, i+2, 24), "src/a.go", i, fake(alnum, i+3, 40))
	}
	return b.Bytes()
}

// ownSource returns the source of this package: text with the words of every rule.
func ownSource() string {
	files, _ := filepath.Glob("../../format/domarkx/*.go") //nolint:errcheck // the pattern is valid
	var b strings.Builder
	for _, f := range files {
		data, _ := os.ReadFile(f) //nolint:errcheck // listed just now
		b.Write(data)
	}
	return b.String()
}

func BenchmarkJSON(b *testing.B) {
	data := transcript(2000)
	s := secrets.New(nil, nil)
	s.File("", data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s.File("", data)
	}
}

func BenchmarkFile(b *testing.B) {
	data := []byte(ownSource())
	s := secrets.New(nil, nil)
	s.File("a.go", data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s.File("a.go", data)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		secrets.New(nil, nil).Text([]byte("x"))
	}
}
