package integration_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
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

// BenchmarkChatTurn takes turns in sessions whose messages all go to the model, each answer with the
// provider's items. The time of the model, which answers at once, is left out.
func BenchmarkChatTurn(b *testing.B) {
	const rounds = 9
	lengths := []int{100, 10000}
	var runs []func()
	cpus := make([][]time.Duration, len(lengths))
	for i, length := range lengths {
		server := newHasty(b)
		r := newRepository(b)
		for key, value := range map[string]string{"": "m", ".m.provider": "anthropic", ".m.url": server.URL + "/v1", ".m.keyHelper": "echo " + providertest.Key} {
			r.git("config", "domarkx.model"+key, value)
		}
		r.domarkx("chat", "--new", "-m", "question 00001", "one")
		repeatTurn(b, r, length/2)
		turn := func() {
			cpu, _ := r.used("git-domarkx", "chat", "-m", "next", "many")
			cpus[i] = append(cpus[i], cpu)
		}
		turn() // the first one reads the whole session
		cpus[i] = nil
		if server.signatures != length/2 {
			b.Fatalf("the model got %d of %d signatures", server.signatures, length/2)
		}
		runs = append(runs, func() {
			r.domarkx("chat", "-m", "next", "many")
		}, turn)
	}
	times := race(rounds, runs...)
	for i, length := range lengths {
		score(b, fmt.Sprintf("turn at %d messages that all go to the model, beside the model: time", length), milliseconds(times[2*i]), map[bool]float64{true: 800}[length == 10000], "ms") // each command reads the whole session
		score(b, fmt.Sprintf("turn at %d messages that all go to the model, beside the model: CPU", length), milliseconds(median(cpus[i])), 0, "ms")
	}
}

// A hasty is a model that reads the request and answers at once.
type hasty struct {
	*httptest.Server
	answers    int
	signatures int // in the second request
}

func newHasty(b *testing.B) *hasty {
	h := &hasty{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if h.answers++; h.answers == 2 {
			h.signatures = strings.Count(string(body), `"signature":`)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`,
			fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"The question is number %05d.","signature":"c2lnbmVk%05d"}}`, h.answers, h.answers),
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Answer %05d: the quick brown fox jumps over the lazy dog."}}`, h.answers),
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}))
	b.Cleanup(h.Close)
	return h
}

// repeatTurn imports a session named many that repeats the only turn of the session one, with other numbers: each answer has its
// own items (gitstore/SPEC.md, section 13).
func repeatTurn(b *testing.B, r *site, times int) {
	b.Helper()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	git, err := gitcmd.Discover(b.Context(), r.dir, nil)
	check(err)
	store, err := gitstore.Open(b.Context(), git)
	check(err)
	defer store.Close()
	tip, err := store.Tip(b.Context(), "one")
	check(err)
	e, err := store.Entry(b.Context(), tip.ID, 1)
	check(err)
	answer, err := store.Read(b.Context(), e.JSON)
	check(err)
	parse := func(text string) domarkx.Message {
		v, err := jsonvalue.ParseValue([]byte(text))
		check(err)
		m, err := domarkx.ParseMessage(v, "")
		check(err)
		return m
	}
	digest := func(m domarkx.Message) string {
		content, _ := m.Value().Get("content")
		return fmt.Sprintf("%x", sha256.Sum256([]byte(content.JSON())))
	}
	sum, _ := parse(string(answer)).Metadata.Get("provider_items")
	content, err := store.Attachment(b.Context(), tip.ID, sum.Text())
	check(err)
	items, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
	check(errors.Join(err, content.Close()))
	header, body, found := strings.Cut(r.domarkx("show", "one"), "## user")
	if !found {
		b.Fatalf("a turn without a question:\n%s", header)
	}
	var document strings.Builder
	document.WriteString(header)
	records := make([]string, times)
	for n := range records {
		number := fmt.Sprintf("%05d", n+1)
		record := strings.ReplaceAll(string(items), "00001", number)
		record = strings.Replace(record, digest(parse(string(answer))), digest(parse(strings.ReplaceAll(string(answer), "00001", number))), 1)
		records[n] = record
		text := strings.ReplaceAll(body, "00001", number)
		document.WriteString("## user" + strings.Replace(text, sum.Text(), fmt.Sprintf("%x", sha256.Sum256([]byte(record))), 1) + "\n")
	}
	r.write("many.md", document.String())
	r.domarkx("import", "many.md")
	sessions := engine.New(store, all.Codecs(), local.Environment{StateDir: git.StateDir()}, enginetest.NoRedactor{})
	check(sessions.Update(b.Context(), "append many", func(tx *transaction.Tx) error {
		tip, err := tx.Tip(b.Context(), "many")
		if err != nil {
			return err
		}
		who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: time.Now()}
		a := engine.Addition{ID: domarkx.NewID(0, who.When), Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "more"}}}}
		for _, record := range records {
			a.Extra = append(a.Extra, []byte(record))
		}
		info, msg, err := sessions.AppendTo(b.Context(), tx, tip, engine.Change{Name: "many", Operation: "append", Author: who, Committer: who}, a)
		if err != nil {
			return err
		}
		return tx.Set(b.Context(), "many", info, trust.Appended(msg))
	}))
}
