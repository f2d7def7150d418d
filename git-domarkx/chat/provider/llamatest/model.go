package llamatest

import (
	"encoding/json"
	"math"
	"strings"
)

// A Model defines the answers of a test model.
type Model struct {
	Thought   string // written before a call
	Text      string // written before a call
	Tool      string // called if the request offers tools
	Arguments string // arguments of the call, JSON
	Answer    string // written after a result, or if the request offers no tools
}

// Endless is a word in the last message that makes the model answer without an end.
const Endless = "endlessly"

// template is the chat template. Its last token selects the answer; see [WriteModel]. The server
// recognizes the marks of thoughts and calls by itself.
const template = `{%- if tools -%}
<|role|>system
Functions:
{% for t in tools %}{{ t | tojson }}
{% endfor -%}
Call one as <tool_call>{"name": ..., "arguments": ...}</tool_call>.<|stop|>
{% endif -%}
{%- for m in messages -%}
<|role|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif -%}
{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|stop|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|role|>assistant
{% if messages[-1].role == 'tool' %}<|answer|>{% elif '` + Endless + `' in (messages[-1].content | string) %}<|endless|>{% elif tools %}<|call|>{% else %}<|answer|>{% endif -%}
{%- endif -%}`

// A vocabulary numbers the tokens: 256 bytes, marks, and pieces of text.
type vocabulary struct {
	tokens []string // in the tokenizer's spelling
	marks  map[int]bool
	scores map[[2]int]float64 // score of the second token after the first
}

// certain is the score of the only token that can follow another.
const certain = 40

func (v *vocabulary) mark(name string) int {
	v.tokens = append(v.tokens, name)
	v.marks[len(v.tokens)-1] = true
	return len(v.tokens) - 1
}

func (v *vocabulary) piece(text string) int {
	v.tokens = append(v.tokens, spell(text))
	return len(v.tokens) - 1
}

// chain makes texts follow the token from, each as one token, and returns the last token.
func (v *vocabulary) chain(from int, texts ...string) int {
	for _, text := range texts {
		next := v.piece(text)
		v.scores[[2]int{from, next}] = certain
		from = next
	}
	return from
}

// WriteModel returns a model as a GGUF file. It is a llama with one layer that does nothing: the
// state of a token is its one-hot embedding, and the output matrix maps each token to the one that
// follows it. The tokens after the prompt's last token form a chain. Each piece of text is one
// token, so that the server streams the pieces one by one.
func WriteModel(m Model) []byte {
	v := &vocabulary{marks: map[int]bool{}, scores: map[[2]int]float64{}}
	for b := range 256 {
		v.tokens = append(v.tokens, spell(string([]byte{byte(b)})))
	}
	stop, role := v.mark("<|stop|>"), v.mark("<|role|>")
	call, answer, endless := v.mark("<|call|>"), v.mark("<|answer|>"), v.mark("<|endless|>")
	name, _ := json.Marshal(m.Tool)
	n := unique{}
	last := v.chain(call, append(n.words("<think>\n", m.Thought, "\n</think>\n\n", m.Text),
		n.words("\n<tool_call>\n", `{"name": `+string(name)+`, "arguments": `, m.Arguments, "}\n</tool_call>")...)...)
	v.scores[[2]int{last, stop}] = certain
	last = v.chain(answer, n.words(m.Answer)...)
	v.scores[[2]int{last, stop}] = certain
	first := v.piece("and so")
	last = v.chain(first, " on,", " and on, ")
	v.scores[[2]int{endless, first}], v.scores[[2]int{last, first}] = certain, certain
	v.piece("th") // the format requires at least one merge, and the token for it
	return encode(v, stop, role)
}

// unique splits texts into pieces that all differ, because each token has exactly one successor.
type unique map[string]bool

func (u unique) words(texts ...string) []string {
	var words []string
	for _, text := range texts {
		for _, word := range strings.SplitAfter(text, " ") {
			if word == "" {
				continue
			}
			for n := len(words); u[word] && n > 0; { // join it to the previous piece
				n--
				word = words[n] + word
				words = words[:n]
			}
			u[word] = true
			words = append(words, word)
		}
	}
	return words
}

// spell returns a text in GPT-2's spelling: printable bytes represent themselves, and other bytes
// are letters from U+0100 on.
func spell(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(letter(text[i]))
	}
	return b.String()
}

func letter(c byte) rune {
	printable := func(c int) bool { return c > 0x20 && c < 0x7f || c > 0xa0 && c != 0xad }
	if printable(int(c)) {
		return rune(c)
	}
	r := rune(0x100)
	for i := range int(c) {
		if !printable(i) {
			r++
		}
	}
	return r
}

// width returns the size of the state: one number for each token, rounded up to a multiple of 32,
// the size of a head.
func (v *vocabulary) width() int { return (len(v.tokens) + 31) / 32 * 32 }

// matrices returns the embedding and the output matrix, with a row for each token.
func (v *vocabulary) matrices() (embedding, output []float32) {
	w := v.width()
	embedding, output = make([]float32, w*len(v.tokens)), make([]float32, w*len(v.tokens))
	for t := range v.tokens {
		embedding[t*w+t] = 1
	}
	for pair, score := range v.scores {
		// The normalization before the output scales the one in a one-hot state to the root of the
		// state's size.
		output[pair[1]*w+pair[0]] = float32(score / math.Sqrt(float64(w)))
	}
	return embedding, output
}
