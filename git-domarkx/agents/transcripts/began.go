package transcripts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxSearch is how many bytes of a transcript are searched for the directory in which it
// began. Agents state it in their first records, but long prompts may come before.
const maxSearch = 4 << 20

// A record has the members in which agents state their working directory.
type record struct {
	CWD     string `json:"cwd"` // Claude Code, pi, Qwen Code
	Payload struct {
		CWD string `json:"cwd"` // Codex
	} `json:"payload"`
	Data struct {
		Context struct {
			CWD string `json:"cwd"` // Copilot
		} `json:"context"`
	} `json:"data"`
}

// stated returns the first working directory in the records of a transcript.
func stated(_ Environment, _ []string, file string) (dir string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var input io.Reader = f
	if strings.HasSuffix(file, ".zst") {
		unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return "", false
		}
		defer unpacked.Close()
		input = unpacked
	}
	lines := bufio.NewReaderSize(io.LimitReader(input, maxSearch), 16<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if dir := workDir(line); dir != "" {
			return dir, true
		}
		if err != nil {
			return "", false
		}
	}
}

// workDir returns the absolute directory that a line states, or "".
func workDir(line []byte) string {
	if !bytes.Contains(line, []byte(`"cwd"`)) {
		return ""
	}
	var r record
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	for _, dir := range []string{r.CWD, r.Payload.CWD, r.Data.Context.CWD} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

// rooted returns the directory that Gemini CLI notes in a file beside the transcripts of a
// project.
func rooted(e Environment, _ []string, file string) (dir string, ok bool) {
	tmp := e.home(".gemini", "tmp")
	rel, err := filepath.Rel(tmp, file)
	if err != nil {
		return "", false
	}
	project, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	data, err := readSmall(filepath.Join(tmp, project, ".project_root"))
	dir = strings.TrimSpace(string(data))
	return dir, err == nil && filepath.IsAbs(dir)
}

// named returns the work tree from whose path Cursor made the name of a project: it replaces
// each character but letters and digits. The path cannot be recovered from the name.
func named(e Environment, trees []string, file string) (dir string, ok bool) {
	projects := filepath.Join(e.or("CURSOR_CONFIG_DIR", ".cursor"), "projects")
	rel, err := filepath.Rel(projects, file)
	if err != nil {
		return "", false
	}
	project, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	for _, tree := range trees {
		if strings.Trim(project, "-") == strings.Trim(slug(tree), "-") {
			return tree, true
		}
	}
	return "", false
}

// slug returns a path with each character but ASCII letters and digits replaced by "-".
func slug(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// readSmall reads a regular file of at most 64 KiB.
func readSmall(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
