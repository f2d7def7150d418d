package integration_test

import "fmt"

// claude writes a transcript of Claude Code with the mix of records that real ones have: a third
// of the lines reports progress, and most bytes are results and what the program knows about them.
func (w *documentWriter) claude(size int64) {
	last, n, message := "null", 0, 0
	line := func(kind, rest string) {
		n++
		id := fmt.Sprintf(`"%08x-0000-4000-8000-%012x"`, n, n)
		w.printf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/work/shop","sessionId":"5e551017-0000-4000-8000-000000000001","version":"2.1.63","gitBranch":"main","type":%q,%s,"uuid":%s,"timestamp":"2026-03-%02dT%02d:%02d:%02d.%03dZ"}`+"\n",
			last, kind, rest, id, 1+n/86400%28, n/3600%24, n/60%60, n%60, n%1000)
		last = id
	}
	block := func(content string) {
		line("assistant", fmt.Sprintf(`"requestId":"req_%d","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-6","content":[%s],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":120,"cache_read_input_tokens":9000,"output_tokens":%d,"service_tier":"standard"}}`,
			message, message, content, n%100))
	}
	for w.written < size {
		line("user", `"message":{"role":"user","content":`+w.text(100, 1000)+`}`)
		for range 4 {
			message++
			call := fmt.Sprintf("toolu_%016x", n)
			block(`{"type":"thinking","thinking":` + w.text(200, 600) + `,"signature":"` + fmt.Sprintf("%0400d", n) + `"}`)
			block(`{"type":"text","text":` + w.text(100, 500) + `}`)
			block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s}}`, call, w.text(20, 200)))
			for range 3 {
				line("progress", fmt.Sprintf(`"data":{"type":"bash_progress","output":%s,"elapsedTimeSeconds":3},"toolUseID":%q,"parentToolUseID":%q`, w.text(300, 900), call, call))
			}
			output := w.text(500, 4000)
			line("user", fmt.Sprintf(`"message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":false}]},"toolUseResult":{"stdout":%s,"stderr":"","interrupted":false,"isImage":false}`, call, output, output))
		}
		message++
		block(`{"type":"text","text":` + w.text(300, 2000) + `}`)
		line("system", `"subtype":"turn_duration","durationMs":81000`)
	}
}

// codex writes a transcript of Codex with the mix of records that real ones have: messages that are said twice, reasoning that
// is encrypted and compresses badly, and instructions that are repeated for each turn.
func (w *documentWriter) codex(size int64) {
	n, total := 0, 0
	line := func(kind, payload string) {
		n++
		w.printf(`{"timestamp":"2026-03-%02dT%02d:%02d:%02d.%03dZ","type":%q,"payload":%s}`+"\n", 1+n/86400%28, n/3600%24, n/60%60, n%60, n%1000, kind, payload)
	}
	tokens := func() {
		total += 100
		line("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":0,"total_tokens":%d},"last_token_usage":{"input_tokens":90,"cached_input_tokens":50,"output_tokens":10,"reasoning_output_tokens":3,"total_tokens":100},"model_context_window":258400},"rate_limits":{"primary":{"used_percent":3.0,"window_minutes":300}}}`, total, total))
	}
	line("session_meta", `{"id":"019ca000-0000-7000-8000-000000000001","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/work/shop","originator":"codex_cli_rs","cli_version":"0.142.0","source":"cli","model_provider":"openai","base_instructions":{"text":`+w.text(14000, 16000)+`},"git":{"branch":"main"}}`)
	instructions := w.text(5000, 7000)
	for w.written < size {
		line("turn_context", `{"turn_id":"t","cwd":"/work/shop","approval_policy":"on-request","sandbox_policy":{"type":"read-only"},"model":"gpt-5.5","effort":"high","summary":"auto","user_instructions":`+instructions+`}`)
		text := w.text(100, 1000)
		line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+text+`}]}`)
		line("event_msg", `{"type":"user_message","message":`+text+`,"images":[]}`)
		for range 4 {
			thought, call := w.text(100, 300), fmt.Sprintf("call_%016x", n)
			line("event_msg", `{"type":"agent_reasoning","text":`+thought+`}`)
			line("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":`+thought+`}],"content":null,"encrypted_content":"gAAAAAB`+w.token(600+w.random.IntN(2400))+`"}`)
			line("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"go test ./... -run %d\",\"workdir\":\"/work/shop\"}","call_id":%q}`, n, call))
			tokens()
			line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, call, w.text(300, 3000)))
		}
		text = w.text(300, 2000)
		line("event_msg", `{"type":"agent_message","message":`+text+`}`)
		line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+text+`}]}`)
		tokens()
	}
}
