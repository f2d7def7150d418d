package providertest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// TestRefuses checks what the server refuses, with the words of the providers.
func TestRefuses(t *testing.T) {
	user := `{"role":"user","content":[{"type":"text","text":"q"}]}`
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}`
	call := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}`
	cached := `{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}`
	tests := []struct {
		name, path, list, want string
	}{
		{"call without result", "messages", user + `,` + use + `,` + user, "without `tool_result`"},
		{"result that is not first", "messages", user + `,` + use + `,{"role":"user","content":[{"type":"text","text":"q"},{"type":"tool_result","tool_use_id":"a"}]}`, "must come first"},
		{"result without call", "messages", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`, "unexpected `tool_use_id`"},
		{"foreign signature", "messages", user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"AAAA"},{"type":"text","text":"a"}]},` + user, "Invalid `signature`"},
		{"fifth cache_control", "messages", `{"role":"user","content":[` + strings.Repeat(cached+`,`, 4) + cached + `]}`, "maximum of 4"},
		{"changed block", "messages", user + `,{"role":"assistant","content":[{"type":"text","text":"x","x_unknown":1}]},` + user, "cannot be modified"},
		{"prefill", "messages", user + `,{"role":"assistant","content":[{"type":"text","text":"a"}]}`, "prefill"},
		{"call without result", "responses", `{"type":"function_call","call_id":"a","name":"t","arguments":"{}"}`, "No tool output found"},
		{"result without call", "responses", `{"type":"function_call_output","call_id":"a","output":"x"}`, "No tool call found"},
		{"foreign reasoning", "responses", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AAAA"}`, "could not be verified"},
		{"call without its reasoning", "responses", `{"type":"function_call","id":"fc_1_0_r","call_id":"a","name":"t","arguments":"{}"}`, "without its required 'reasoning'"},
		{"call without result", "chat", `{"role":"user","content":"q"},` + call, "must be followed by tool messages"},
		{"result without call", "chat", `{"role":"tool","tool_call_id":"a","content":"x"}`, "must be a response to a preceding message"},
		{"missing signature", "gemini", `{"role":"user","content":"q"},` + call + `,{"role":"tool","tool_call_id":"a","content":"x"}`, "missing a thought_signature"},
		{"foreign signature", "gemini", `{"role":"user","content":"q"},` + strings.Replace(call, `"type"`, `"extra_content":{"google":{"thought_signature":"AAAA"}},"type"`, 1) +
			`,{"role":"tool","tool_call_id":"a","content":"x"}`, "Corrupted thought signature"},
	}
	for _, test := range tests {
		t.Run(test.path+" "+test.name, func(t *testing.T) {
			s := providertest.New(t)
			url, body := s.Base()+"/"+test.path, `{"model":"m","max_tokens":9,"messages":[`+test.list+`]}`
			switch test.path {
			case "responses":
				body = `{"model":"m","store":false,"input":[` + test.list + `]}`
			case "chat":
				url = s.Base() + "/chat/completions"
			case "gemini":
				url = s.Gemini() + "/chat/completions"
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Anthropic-Version", "2023-06-01")
			r.Header.Set("X-Api-Key", providertest.Key)
			r.Header.Set("Authorization", "Bearer "+providertest.Key)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), test.want) {
				t.Errorf("status %d: %s; expected %q", res.StatusCode, text, test.want)
			}
		})
	}
}

// TestRefusesOrphanedReasoning sends reasoning of the server itself without the item that followed it.
func TestRefusesOrphanedReasoning(t *testing.T) {
	s := providertest.New(t, providertest.Reply{Thought: "Hm.", Text: "Yes."})
	ask := func(items string) (status int, text string) {
		t.Helper()
		body := `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"type":"message","role":"user","content":"q"}` + items + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Base()+"/responses", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+providertest.Key)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(answer)
	}
	if status, text := ask(""); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	items := s.Items()
	if len(items) != 2 {
		t.Fatalf("items %q, expected reasoning and a message", items)
	}
	next := `,{"type":"message","role":"user","content":"q"}`
	for name, sent := range map[string]string{"before a message of the user": "," + string(items[0]) + next, "at the end": "," + string(items[0])} {
		if status, text := ask(sent); status != http.StatusBadRequest || !strings.Contains(text, "without its required following item") {
			t.Errorf("%s: status %d: %s", name, status, text)
		}
	}
	s.Add(providertest.Reply{Text: "Again."})
	if status, text := ask("," + string(items[0]) + "," + string(items[1]) + next); status != http.StatusOK {
		t.Errorf("followed by its item: status %d: %s", status, text)
	}
}
