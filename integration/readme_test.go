package integration_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlock is a code block of README.md. A reader pastes it as a whole.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// maxReadme is how many words README.md has at most.
const maxReadme = 900

// TestReadme pastes the code blocks of README.md into a shell: those of a quickstart in one fresh repository, with a home directory of its
// own. Of make, it only checks that the targets exist.
func TestReadme(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	project := newSite(t).at(top)
	readme := project.read("README.md")
	if words := len(strings.Fields(readme)); words > maxReadme {
		t.Errorf("README.md has %d words, at most %d are allowed; move some to GUIDE.md", words, maxReadme)
	}
	if code, fences := regexp.MustCompile("(?m)^ *(```|~~~)|^(    |\t)").FindAllString(readme, -1), 2*len(shellBlock.FindAllString(readme, -1)); len(code) != fences {
		t.Errorf("README.md has code that this test does not run; write it in blocks of ```sh")
	}
	prepare := map[string]func(*testing.T) (reader *site, shown []string){
		"I use a coding agent": readerWithAgent,
		"I write Markdown":     readerWithEditor,
	}
	for section := range strings.SplitSeq(readme, "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		blocks := shellBlock.FindAllStringSubmatch(section, -1)
		quickstart := prepare[title]
		delete(prepare, title)
		if quickstart == nil {
			for _, block := range blocks {
				checkTargets(t, project, block[1])
			}
			continue
		}
		t.Run(title, func(t *testing.T) {
			reader, shown := quickstart(t)
			var printed strings.Builder
			for _, block := range blocks {
				// The last line shows that no command has read the lines after it.
				o := reader.try(block[1]+"\necho all was 'pasted'\n", "bash", "-ev")
				if o.code != 0 || !strings.HasSuffix(o.out, "all was pasted\n") {
					t.Fatalf("a line of README.md fails, the last one below:\n%s", o)
				}
				printed.WriteString(o.out)
			}
			for _, text := range shown {
				if !strings.Contains(printed.String(), text) {
					t.Errorf("the quickstart does not show %q:\n%s", text, printed.String())
				}
			}
		})
	}
	for title := range prepare {
		t.Errorf("README.md has no section %q", title)
	}
}

// readerWithAgent returns the repository of a user of Claude Code, and what the quickstart has to show.
func readerWithAgent(t *testing.T) (reader *site, shown []string) {
	reader = newRepository(t)
	t.Cleanup(func() { reader.try("", "git-domarkx", "agent", "watch", "--stop") })
	const record = `{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":"5a1c0001-0000-4000-8000-000000000001","timestamp":"2026-03-02T09:00:0%[2]d.000Z","cwd":%[4]q,` +
		`"isSidechain":false,"message":%[5]s}` + "\n"
	reader.write("../home/.claude/projects/-here/5a1c0001-0000-4000-8000-000000000001.jsonl",
		fmt.Sprintf(record, "user", 1, "null", reader.dir, `{"role":"user","content":"Why does the test fail on Mondays?"}`)+
			fmt.Sprintf(record, "assistant", 2, `"u1"`, reader.dir, `{"id":"msg_1","role":"assistant","model":"claude-opus-4-1","content":[{"type":"text","text":"It reads the clock."}],`+
				`"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":30}}`))
	return reader, []string{"claude-code/2026-03-02-why-does-the-test-fail-on-mondays#0\t", "claude-opus-4-1\t1\t1000\t", "\nIt reads the clock.\n", "\trecords agents since "}
}

// readerWithEditor returns the repository of a user whose editor replaces a word, and what the quickstart has to show.
func readerWithEditor(t *testing.T) (reader *site, shown []string) {
	needFUSE(t)
	reader = newRepository(t).with("EDITOR=sed -i s/nightly/daily/")
	t.Cleanup(func() { reader.try("", "fusermount3", "-uqz", "../mnt") })
	return reader, []string{"export\tnew\n", "\n+Why does the daily export lose a day?\n", "\n+It was the clock. Thank you!\n"}
}

// checkTargets fails unless the lines of a block are calls of make for targets of the Makefile.
func checkTargets(t *testing.T, project *site, block string) {
	for line := range strings.Lines(block) {
		args, ok := strings.CutPrefix(line, "make ")
		if !ok {
			t.Errorf("README.md: no test runs %s", line)
			continue
		}
		project.must("", "sh", "-c", "make -n "+args)
	}
}
