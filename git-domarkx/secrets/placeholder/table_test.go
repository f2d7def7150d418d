package placeholder_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
)

// token returns a made-up secret. It is put together here, so that no file has its text.
func token(n int) string {
	sum := sha256.Sum256([]byte{byte(n)})
	return "gh" + "p_" + hex.EncodeToString(sum[:18])
}

// scanner returns a scanner, whose rules are compiled when it first scans.
func scanner() *secrets.Scanner { return secrets.New([]byte("key"), nil) }

// texts generates texts with secrets, placeholders and quotes.
func texts() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-z ,.:{}"\\\n]{0,12}`),
		rapid.Map(rapid.IntRange(0, 4), token),
		rapid.Map(rapid.IntRange(1, 9), func(n int) string { return fmt.Sprintf("[REDACTED:github-pat:%d]", n) }),
		rapid.Map(rapid.IntRange(0, 4), func(n int) string { return fmt.Sprintf(`{"text": "with %s", "n": %d}`+"\n", token(n), n) }),
	)
	return rapid.Map(rapid.SliceOfN(part, 0, 8), func(all []string) string { return strings.Join(all, " ") })
}

func TestRedactIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		isJSON := rapid.Bool().Draw(t, "JSON")
		table := placeholder.New(scanner(), nil)
		table.Note([]byte(text), isJSON)
		once, _ := table.Redact([]byte(text), isJSON)
		twice, changed := table.Redact(once, isJSON)
		if changed || !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q, and then %q", text, once, twice)
		}
		again := placeholder.New(scanner(), nil)
		again.Note(once, isJSON)
		if fresh, changed := again.Redact(once, isJSON); changed {
			t.Errorf("a table of its own makes %q of %q", fresh, once)
		}
		for n := range 5 {
			if strings.Contains(string(once), token(n)) {
				t.Errorf("%q has secret %d", once, n)
			}
		}
	})
}

// The numbers depend on the texts and their order only, and each secret has one.
func TestNumbersArePure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(texts(), 1, 5).Draw(t, "texts")
		number := func(key string) []string {
			table := placeholder.New(secrets.New([]byte(key), nil), nil)
			for _, text := range all {
				table.Note([]byte(text), true)
			}
			var redacted []string
			for _, text := range all {
				now, _ := table.Redact([]byte(text), true)
				redacted = append(redacted, string(now))
			}
			for n := range 5 {
				table.Note([]byte(token(n)), false)
			}
			return redacted
		}
		if a, b := number("a machine"), number("another"); !slices.Equal(a, b) {
			t.Errorf("two machines make %q and %q of %q", a, b, all)
		}
	})
}

func TestNumbersFollowOccurrence(t *testing.T) {
	table := placeholder.New(scanner(), nil)
	for _, n := range []int{3, 1, 3, 2} {
		table.Note([]byte("a token: "+token(n)), false)
	}
	now, changed := table.Redact([]byte(token(1)+" "+token(2)+" "+token(3)+" x"+token(3)), false)
	want := "[REDACTED:github-pat:2] [REDACTED:github-pat:3] [REDACTED:github-pat:1] x[REDACTED:github-pat:1]"
	if string(now) != want || !changed {
		t.Errorf("%s, want %s", now, want)
	}
}

// Two redactions of one text have one common form, whichever side looks, and joining that with either changes nothing.
func TestJoinCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, a, b strings.Builder
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 4), 1, 6).Draw(t, "secrets") {
			word := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "word")
			fmt.Fprintf(&whole, "%s %s ", word, token(n))
			for side, out := range []*strings.Builder{&a, &b} {
				if rapid.Bool().Draw(t, fmt.Sprint(side, " replaced ", i)) {
					fmt.Fprintf(out, "%s [REDACTED:github-pat:%d] ", word, n+1+side)
				} else {
					fmt.Fprintf(out, "%s %s ", word, token(n))
				}
			}
		}
		tables := map[string]*placeholder.Table{}
		join := func(x, y string) (string, bool) {
			for _, text := range []string{x, y} {
				if tables[text] == nil {
					tables[text] = placeholder.New(scanner(), nil)
					tables[text].Note([]byte(text), false)
				}
			}
			return placeholder.JoinText(tables[x], tables[y], x, y)
		}
		ab, ok := join(a.String(), b.String())
		ba, also := join(b.String(), a.String())
		if !ok || !also || ab != ba {
			t.Fatalf("%q and %q: %q, %v, and the other way %q, %v", a.String(), b.String(), ab, ok, ba, also)
		}
		for _, side := range []string{a.String(), b.String(), ab} {
			if again, ok := join(ab, side); !ok || again != ab {
				t.Errorf("%q joined with %q is %q, %v", ab, side, again, ok)
			}
		}
		left, _ := join(a.String(), b.String())
		left, _ = join(left, whole.String())
		right, _ := join(b.String(), whole.String())
		right, _ = join(a.String(), right)
		if left != right {
			t.Errorf("joined in two orders: %q and %q", left, right)
		}
	})
}

func TestJoinRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ a, b string }{
		"another word":             {"hello " + token(1), "hallo [REDACTED:github-pat:1]"},
		"a text that is no secret": {"pay Alice", "pay [REDACTED:github-pat:1]"},
		"a part more":              {"x " + token(1), "x [REDACTED:github-pat:1] y"},
		"a part less":              {"x " + token(1) + " y", "x [REDACTED:github-pat:1]"},
	} {
		a, b := placeholder.New(scanner(), nil), placeholder.New(scanner(), nil)
		a.Note([]byte(tt.a), false)
		b.Note([]byte(tt.b), false)
		if joined, ok := placeholder.JoinText(a, b, tt.a, tt.b); ok {
			t.Errorf("%s: joined to %q", name, joined)
		}
		if joined, ok := placeholder.JoinText(b, a, tt.b, tt.a); ok {
			t.Errorf("%s, the other way: joined to %q", name, joined)
		}
	}
}

// FuzzJoin looks for texts that panic, and for forgeries: what differs in more than placeholders is not joined.
func FuzzJoin(f *testing.F) {
	f.Add("a "+token(1), "a [REDACTED:github-pat:1]")
	f.Add("[REDACTED:x:1][REDACTED:y:2]", "[REDACTED:y:2][REDACTED:x:1]")
	f.Add(`{"a": "`+token(2)+`"}`, `{"a": "[REDACTED:github-pat:999999999]"}`)
	f.Add("[REDACTED:", "[REDACTED:a:0]")
	scan := scanner()
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := placeholder.New(scan, nil), placeholder.New(scan, nil)
		x.Note([]byte(a), false)
		y.Note([]byte(b), false)
		joined, ok := placeholder.JoinText(x, y, a, b)
		other, also := placeholder.JoinText(y, x, b, a)
		if ok != also || joined != other {
			t.Errorf("%q, %v and %q, %v", joined, ok, other, also)
		}
	})
}

func TestAligned(t *testing.T) {
	const one, two = "[REDACTED:a:1]", "[REDACTED:b:2]"
	for _, tt := range []struct {
		a, b string
		want map[string]string
	}{
		{"x secret y", "x " + one + " y", map[string]string{one: "secret"}},
		{"secret and other", one + " and " + two, map[string]string{one: "secret", two: "other"}},
		{"secret", one, map[string]string{one: "secret"}},
		{"the same", "the same", nil},
		{"x secret y", "z " + one + " y", nil},
		{"x secret y", "x " + one + " z", nil},
		{"secretother", one + two, nil},
		{"ab", "abc " + one, nil},
	} {
		if got := placeholder.AlignedText(tt.a, tt.b); len(got) != len(tt.want) || !maps.Equal(got, tt.want) {
			t.Errorf("%q and %q: %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestKeysStayDistinct redacts objects whose names are secrets: members that differed still differ.
func TestKeysStayDistinct(t *testing.T) {
	for _, keys := range [][]string{{token(1), token(2)}, {token(1), token(1) + "x"}, {"a " + token(1), "b " + token(1)}} {
		text := []byte("{")
		for i, k := range keys {
			text = fmt.Appendf(text, `"%s": %d, `, k, i)
		}
		text = append(text, `"end": 0}`...)
		table := placeholder.New(scanner(), nil)
		table.Note(text, true)
		now, _ := table.Redact(text, true)
		var object map[string]int
		if err := json.Unmarshal(now, &object); err != nil || len(object) != len(keys)+1 {
			t.Errorf("%s becomes %s: %v", text, now, err)
		}
		if strings.Contains(string(now), token(1)) {
			t.Errorf("%s has the secret", now)
		}
	}
}

// TestJSONStaysJSON redacts any JSON with secrets in names, values and nested text: it is still JSON of the same shape.
func TestJSONStaysJSON(t *testing.T) {
	word := rapid.OneOf(rapid.StringMatching(`[a-z"\\\n]{0,6}`), rapid.Map(rapid.IntRange(0, 3), token))
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{}
		for i, text := range rapid.SliceOfN(word, 0, 6).Draw(t, "texts") {
			nested, err := json.Marshal(map[string]string{"text": text, "password": text})
			if err != nil {
				t.Fatal(err)
			}
			value[fmt.Sprint(i, text)] = []any{text, i, true, nil, string(nested)}
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		table := placeholder.New(scanner(), nil)
		table.Note(data, true)
		now, _ := table.Redact(data, true)
		var after map[string][]any
		if err := json.Unmarshal(now, &after); err != nil || len(after) != len(value) {
			t.Fatalf("%s becomes %s: %v", data, now, err)
		}
		for name, list := range after {
			var nested map[string]string
			if len(list) != 5 || json.Unmarshal([]byte(list[4].(string)), &nested) != nil || len(nested) != 2 {
				t.Errorf("%q is %v", name, list)
			}
		}
		for n := range 4 {
			if strings.Contains(string(now), token(n)) {
				t.Errorf("%s has secret %d", now, n)
			}
		}
	})
}

// TestLine redacts lines that may be cut off: also the beginning of a secret before an ellipsis.
func TestLine(t *testing.T) {
	long := token(1)
	for text, want := range map[string]string{
		"":                               "",
		"see " + long:                    "see [REDACTED:github-pat:1]",
		"see " + long[:20] + "…":         "see [REDACTED:github-pat:1]…",
		"see " + long[:20] + "...":       "see [REDACTED:github-pat:1]...",
		"see " + long[:6] + "...":        "see [REDACTED:github-pat:1]...",
		"see " + long[:5] + "...":        "see " + long[:5] + "...",
		"see " + long[:20]:               "see " + long[:20], // nothing says that it goes on
		"see " + long[1:20] + "...":      "see " + long[1:20] + "...",
		long + " and " + long[:9] + "…":  "[REDACTED:github-pat:1] and [REDACTED:github-pat:1]…",
		"nothing is cut off here...":     "nothing is cut off here...",
		"[REDACTED:github-pat:1] stays…": "[REDACTED:github-pat:1] stays…",
	} {
		table := placeholder.New(scanner(), nil)
		table.Note([]byte(long), false)
		if got := table.Line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestSpellings checks that a secret is known as it is, in JSON, and in JSON inside of JSON, whichever of these was found.
func TestSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[a-z"\\/<é\n]{1,12}`).Draw(t, "secret")
		once, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(plain); err != nil {
			t.Fatal(err)
		}
		escaped := strings.TrimSuffix(b.String()[1:], "\"\n")
		forms := placeholder.Spellings(plain)
		if !slices.Contains(forms, plain) || len(forms) > 4 || len(slices.Compact(slices.Sorted(slices.Values(forms)))) != len(forms) {
			t.Errorf("%q: %q", plain, forms)
		}
		if !strings.Contains(plain, `\`) && !slices.Contains(forms, escaped) {
			t.Errorf("%q, in JSON %s, has the spellings %q", plain, once, forms)
		}
		if !strings.Contains(plain, `\`) && !slices.Contains(placeholder.Spellings(escaped), plain) {
			t.Errorf("%q, in JSON %s, is not known as it is: %q", plain, escaped, placeholder.Spellings(escaped))
		}
	})
}

// FuzzRedact looks for texts that panic, keep a secret, or change again when they are redacted again.
func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"`+token(1)+`": "`+token(2)+`"}`), true)
	f.Add([]byte("x"+token(1)+token(1)+"\n{\"a\": 1}\n"), true)
	f.Add([]byte("[REDACTED:github-pat:1]"+token(1)+"[REDACTED:"), false)
	f.Add([]byte(`"\`+token(1)+`\"`), true)
	scan := scanner()
	f.Fuzz(func(t *testing.T, text []byte, isJSON bool) {
		table := placeholder.New(scan, nil)
		table.Note([]byte(token(1)), false)
		table.Note(text, isJSON)
		now, changed := table.Redact(text, isJSON)
		if changed == bytes.Equal(now, text) {
			t.Errorf("changed %t: %q becomes %q", changed, text, now)
		}
		if !isJSON && bytes.Contains(now, []byte(token(1))) {
			t.Errorf("%q has the secret", now)
		}
	})
}

// FuzzAligned looks for texts that panic, and for pairs that do not rebuild the text.
func FuzzAligned(f *testing.F) {
	f.Add("x secret y", "x [REDACTED:a:1] y")
	f.Add("", "[REDACTED:a:1]")
	f.Add("ab", "a[REDACTED:a:1]b[REDACTED:b:2]")
	f.Fuzz(func(t *testing.T, a, b string) {
		for mark, raw := range placeholder.AlignedText(a, b) {
			if !strings.Contains(a, raw) || !strings.Contains(b, mark) {
				t.Errorf("%q and %q: %q is %q", a, b, mark, raw)
			}
		}
	})
}
