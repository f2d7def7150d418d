package llamatest

import (
	"encoding/json"
	"math"
	"strings"
)

// A Model holds the answers of a model.
type Model struct {
	Thought   string // before a call
	Text      string // before a call
	Tool      string // to call when the request offers tools
	Arguments string // of the call, JSON
	Answer    string // to a result, and to a request without tools
}

// Endless is a word that makes the model talk without an end when the last message has it.
const Endless = "endlessly"

// template renders a conversation. Its last token decides what the model says; see [WriteModel].
// The server finds the marks of thoughts and calls in it by itself.
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

// A vocabulary numbers tokens: the 256 bytes, marks, and pieces of text.
type vocabulary struct {
	tokens []string // in the spelling of the tokenizer
	marks  map[int]bool
	scores map[[2]int]float64 // of a token after another
}

// certain is the score of a token that always follows another.
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

// chain lets texts follow a token, each as one token, and returns the last.
func (v *vocabulary) chain(from int, texts ...string) int {
	for _, text := range texts {
		next := v.piece(text)
		v.scores[[2]int{from, next}] = certain
		from = next
	}
	return from
}

// WriteModel returns a model in the GGUF format. It is a llama of one layer that does nothing: the
// state of a token is its one-hot embedding, and the output matrix is a table of which token
// follows which. The tokens after the prompt's last one are a chain, of which each piece of text
// is one token, so that the server streams them one by one.
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
	v.piece("th") // the format wants one merge and its token
	return encode(v, stop, role)
}

// unique splits texts into pieces that all differ, because a token has only one successor.
type unique map[string]bool

func (u unique) words(texts ...string) []string {
	var words []string
	for _, text := range texts {
		for _, word := range strings.SplitAfter(text, " ") {
			if word == "" {
				continue
			}
			for n := len(words); u[word] && n > 0; { // join it to the one before
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

// spell returns a text in GPT-2's spelling: printable bytes stand for themselves, the others for
// letters from U+0100 on.
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

// width returns the size of the state: one number for each token, in whole heads of 32.
func (v *vocabulary) width() int { return (len(v.tokens) + 31) / 32 * 32 }

// matrices returns the embedding and the output matrix, a row for each token.
func (v *vocabulary) matrices() (embedding, output []float32) {
	w := v.width()
	embedding, output = make([]float32, w*len(v.tokens)), make([]float32, w*len(v.tokens))
	for t := range v.tokens {
		embedding[t*w+t] = 1
	}
	for pair, score := range v.scores {
		// The norm before the output makes the one of a one-hot state the root of its size.
		output[pair[1]*w+pair[0]] = float32(score / math.Sqrt(float64(w)))
	}
	return embedding, output
}
