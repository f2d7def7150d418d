// Package prices returns the prices of models: from a table that was generated from models.dev, and
// from the user's configuration, which overrides it. It uses no network: asking a server would reveal
// who uses which model.
//
// The table has only the prices that a model's own provider asks, and no model that is free of charge
// somewhere: a cost of 0 would be read as known. A recorded cost takes precedence over a price.
package prices

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// "go run generate.go CLONE" generates the table. Its first line is "# models.dev DATE COMMIT".
// Each other line is a model, sorted by id: the id, then USD per million tokens of input, output,
// cache read and cache write, or "-". More groups may follow: a number of tokens and the four
// prices for requests with more tokens.
//
//go:embed prices.tsv
var table string

// Tokens are the numbers of tokens of one response. Input excludes cached tokens, and Output
// includes reasoning.
type Tokens struct{ Input, CacheRead, CacheWrite, Output int64 }

// Rates are prices in USD per million tokens.
type Rates struct{ Input, Output, CacheRead, CacheWrite float64 }

// A Tier holds the prices of requests with more than a number of tokens.
type Tier struct {
	Above int64 // number of tokens in the request, including cached ones
	Rates
}

// A Price is the price of a model.
type Price struct {
	Rates
	Tiers []Tier // sorted by Above
}

// Cost returns the cost of one response in USD.
func (p Price) Cost(t Tokens) float64 {
	rates := p.Rates
	for _, tier := range p.Tiers {
		if t.Input+t.CacheRead+t.CacheWrite > tier.Above {
			rates = tier.Rates
		}
	}
	return (float64(t.Input)*rates.Input + float64(t.CacheRead)*rates.CacheRead + float64(t.CacheWrite)*rates.CacheWrite + float64(t.Output)*rates.Output) / 1e6
}

// A Config provides settings from Git's configuration.
type Config interface {
	Get(key string) (value string, ok bool)
}

// A List returns prices of models. The zero List uses only the table.
type List struct {
	config Config
	lines  []string // lines of the table
}

// New returns a List with the prices of the table and of a configuration, which overrides them.
func New(config Config) *List { return &List{config: config} }

// Date returns the date of the prices in the table, as YYYY-MM-DD.
func Date() string {
	first, _, _ := strings.Cut(table, "\n")
	return strings.Fields(first)[2]
}

// Of returns the price of a model. Prices in the configuration may also be set for an alias of the
// model, which takes precedence. ok is false if the price is unknown. The error matches
// [domarkx.ErrInvalid] if the configuration is not valid.
func (l *List) Of(model string, aliases ...string) (p Price, ok bool, err error) {
	p, ok = l.find(model)
	if l.config == nil {
		return p, ok, nil
	}
	for _, name := range append(slices.Clip(aliases), model) {
		if name == "" {
			continue
		}
		set, err := l.configured(name)
		if err != nil {
			return Price{}, false, err
		}
		if len(set) == 0 {
			continue
		}
		_, hasInput := set["input"]
		_, hasOutput := set["output"]
		if ok || hasInput && hasOutput {
			return override(p, set, ok), true, nil
		}
	}
	return p, ok, nil
}

// Parts are the last parts of the keys that set the price of a model.
var Parts = [...]string{"input", "output", "cacheRead", "cacheWrite"}

// configured returns the prices that the configuration sets for a model, by the last part of their
// key.
func (l *List) configured(name string) (map[string]float64, error) {
	set := map[string]float64{}
	for _, part := range Parts {
		key := "domarkx.price." + name + "." + part
		text, ok := l.config.Get(key)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1e9) {
			return nil, fmt.Errorf("%s %q: %w, expected USD for a million tokens", key, text, domarkx.ErrInvalid)
		}
		set[part] = n
	}
	return set, nil
}

// override returns a price with some rates replaced in all tiers. If the price was unknown, cached
// tokens cost as much as input unless their prices are set.
func override(p Price, set map[string]float64, known bool) Price {
	if !known {
		p = Price{Rates: Rates{CacheRead: set["input"], CacheWrite: set["input"]}}
	}
	all := []*Rates{&p.Rates}
	p.Tiers = slices.Clone(p.Tiers)
	for i := range p.Tiers {
		all = append(all, &p.Tiers[i].Rates)
	}
	for _, r := range all {
		for part, n := range set {
			*map[string]*float64{"input": &r.Input, "output": &r.Output, "cacheRead": &r.CacheRead, "cacheWrite": &r.CacheWrite}[part] = n
		}
	}
	return p
}

// find returns the price of a model in the table. Providers report a model as "NAME" or
// "VENDOR/NAME", and clouds as "REGION.VENDOR.NAME-v1:0" or "NAME@DATE".
func (l *List) find(model string) (Price, bool) {
	if l.lines == nil {
		l.lines = strings.Split(strings.TrimSuffix(table, "\n"), "\n")[1:]
	}
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	candidates := []string{name, strings.Replace(name, "@", "-", 1)}
	if _, rest, ok := strings.Cut(name, "anthropic."); ok {
		rest, _, _ = strings.Cut(rest, "-v")
		candidates = append(candidates, rest)
	}
	for _, c := range candidates {
		if p, ok := l.line(c); ok {
			return p, true
		}
		if base, ok := withoutDate(c); ok {
			if p, ok := l.line(base); ok {
				return p, true
			}
		}
	}
	return Price{}, false
}

func (l *List) line(model string) (Price, bool) {
	i, ok := slices.BinarySearchFunc(l.lines, model, func(line, model string) int {
		name, _, _ := strings.Cut(line, "\t")
		return strings.Compare(name, model)
	})
	if !ok {
		return Price{}, false
	}
	fields := strings.Split(l.lines[i], "\t")[1:]
	p := Price{Rates: rates(fields)}
	for fields = fields[4:]; len(fields) >= 5; fields = fields[5:] {
		above, _ := strconv.ParseInt(fields[0], 10, 64)
		p.Tiers = append(p.Tiers, Tier{above, rates(fields[1:])})
	}
	return p, true
}

// rates parses four columns. If the price of cached tokens is unknown, it is that of input.
func rates(fields []string) Rates {
	var n [4]float64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			n[i] = n[0]
		}
	}
	return Rates{n[0], n[1], n[2], n[3]}
}

// withoutDate removes the date from a name such as "gpt-5.4-2026-03-05" or
// "claude-opus-4-6-20260205".
func withoutDate(name string) (string, bool) {
	for _, form := range []string{"-20060102", "-2006-01-02"} {
		at := len(name) - len(form)
		if at <= 0 {
			continue
		}
		if _, err := time.Parse(form, name[at:]); err == nil {
			return name[:at], true
		}
	}
	return "", false
}
