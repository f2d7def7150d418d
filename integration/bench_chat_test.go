package integration_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider/providertest"
)

// BenchmarkChat takes turns with one call in a long session whose beginning was summarised, as every
// session is that no longer fits its model.
func BenchmarkChat(b *testing.B) {
	const rounds = 7
	lengths := []int{100, 10000}
	var runs []func()
	for _, length := range lengths {
		server := providertest.New(b)
		r := newRepository(b)
		r.write("s.md", "```workspace-config\nresources:\n  - type: filesystem\n    id: files\n```\n\n"+document("s", length-20))
		r.domarkx("import", "s.md")
		last := strings.Split(strings.TrimSpace(r.domarkx("log", "--messages", "--json", "s")), `"message": "`)
		id, _, _ := strings.Cut(last[len(last)-1], `"`)
		r.write("more.md", r.domarkx("show", "s")+fmt.Sprintf("\n## user\n\n```msg-metadata\n{\"compacts\": %q}\n```\n\nA summary.\n", id)+strings.Repeat("\n## user\n\nmore\n\n## assistant\n\nyes\n", 10))
		r.domarkx("import", "--as", "s2", "more.md")
		r.domarkx("trust", "s2")
		for key, value := range map[string]string{"": "m", ".m.provider": "anthropic", ".m.url": server.Base(), ".m.keyHelper": "echo " + providertest.Key} {
			r.git("config", "domarkx.model"+key, value)
		}
		n := 0
		turn := func() {
			n++
			server.Add(providertest.Reply{Calls: []providertest.Call{{Name: "files__write_file", Arguments: fmt.Sprintf(`{"path": "a", "content": "%d"}`, n)}}}, providertest.Reply{Text: "Done."})
			r.domarkx("chat", "-m", "next", "--approve", "all", "s2")
		}
		turn()
		runs = append(runs, turn)
		before, _ := filepath.Glob(r.path(".git/objects/pack/*.idx"))
		turn()
		score(b, fmt.Sprintf("turn with a call at %d messages: trees written", length), float64(treesBeyond(r, before))/1000, map[bool]float64{true: 16}[length == 10000], "KB")
	}
	times := race(rounds, runs...)
	for i, length := range lengths {
		score(b, fmt.Sprintf("turn with a call at %d messages, beside the model: time", length), milliseconds(times[i]), 0, "ms")
	}
	score(b, "turn at 10,000 messages: time, against 100 messages", ratio(times[1], times[0]), 1.5, "x")
}

// treesBeyond returns the bytes on disk of the trees in packs that are not among the given ones.
func treesBeyond(r *site, before []string) int {
	total := 0
	packs, _ := filepath.Glob(r.path(".git/objects/pack/*.idx"))
	for _, pack := range packs {
		if strings.Contains(strings.Join(before, "\n"), pack) {
			continue
		}
		for line := range strings.Lines(r.git("verify-pack", "-v", pack)) {
			var id, kind string
			var size, packed int
			if n, _ := fmt.Sscan(line, &id, &kind, &size, &packed); n == 4 && kind == "tree" {
				total += packed
			}
		}
	}
	return total
}

// BenchmarkChatWhole takes turns in sessions that all go to the model.
func BenchmarkChatWhole(b *testing.B) {
	lengths := []int{100, 10000}
	var runs []func()
	for _, length := range lengths {
		server := providertest.New(b)
		r := newRepository(b)
		r.write("s.md", document("s", length))
		r.domarkx("import", "s.md")
		for key, value := range map[string]string{"": "m", ".m.provider": "anthropic", ".m.url": server.Base(), ".m.keyHelper": "echo " + providertest.Key} {
			r.git("config", "domarkx.model"+key, value)
		}
		runs = append(runs, func() {
			server.Add(providertest.Reply{Text: "Done."})
			r.domarkx("chat", "-m", "next", "s")
		})
	}
	times := race(7, runs...)
	for i, length := range lengths {
		score(b, fmt.Sprintf("turn at %d messages that all go to the model: time", length), milliseconds(times[i]), 0, "ms")
	}
}
