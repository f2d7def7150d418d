//go:build ignore

// Generate writes prices.tsv from a clone of https://github.com/anomalyco/models.dev, which may be bare:
//
//	go run generate.go CLONE
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// providers are the providers whose prices are used. The first one that lists a model determines
// its price, so those that make their own models come first.
var providers = []string{"anthropic", "openai", "google", "xai", "mistral", "deepseek", "moonshotai", "alibaba", "zai", "minimax",
	"cohere", "llama", "xiaomi", "stepfun", "perplexity", "inception", "nova", "poolside", "sakana", "sarvam", "upstage", "openrouter"}

// A file is the part of a model's description that is used.
type file struct {
	Cost struct {
		cost
		Tiers []tier `toml:"tiers"`
	} `toml:"cost"`
}

type tier struct {
	cost
	Tier struct {
		Type string `toml:"type"`
		Size int64  `toml:"size"`
	} `toml:"tier"`
}

type cost struct {
	Input      *float64 `toml:"input"`
	Output     *float64 `toml:"output"`
	CacheRead  *float64 `toml:"cache_read"`
	CacheWrite *float64 `toml:"cache_write"`
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run generate.go CLONE")
	}
	clone := os.Args[1]
	lines := map[string]string{}
	for _, p := range providers {
		dir := "providers/" + p + "/models/"
		for name := range strings.Lines(git(clone, "ls-tree", "-r", "--name-only", "HEAD", dir)) {
			name = strings.TrimSpace(name)
			if path.Ext(name) != ".toml" {
				continue
			}
			model := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, dir), ".toml"))
			if p == "openrouter" { // ids in it begin with the name of the model's maker
				model = path.Base(model)
			}
			if line, ok := priced(clone, name); ok && lines[model] == "" && !strings.ContainsAny(model, " \t:") {
				lines[model] = model + line
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# models.dev %s", git(clone, "log", "-1", "--format=%cs %H"))
	for _, m := range slices.Sorted(maps.Keys(lines)) {
		out.WriteString(lines[m] + "\n")
	}
	if err := os.WriteFile("prices.tsv", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// priced returns the columns of a model, each preceded by a tab. ok is false if the model has no
// price or is free of charge, which is a provider's offer and not a price.
func priced(clone, name string) (string, bool) {
	var f file
	if _, err := toml.Decode(git(clone, "show", "HEAD:"+name), &f); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	c := f.Cost
	if c.Input == nil || c.Output == nil || *c.Input <= 0 || *c.Output <= 0 {
		return "", false
	}
	line := c.columns()
	slices.SortFunc(c.Tiers, func(a, b tier) int { return int(a.Tier.Size - b.Tier.Size) })
	for _, t := range c.Tiers {
		if t.Input != nil && t.Output != nil && t.Tier.Size > 0 && (t.Tier.Type == "" || t.Tier.Type == "context") {
			line += fmt.Sprintf("\t%d", t.Tier.Size) + t.columns()
		}
	}
	return line, true
}

// columns returns prices as columns; "-" stands for an unknown price.
func (c cost) columns() string {
	var b strings.Builder
	for _, n := range []*float64{c.Input, c.Output, c.CacheRead, c.CacheWrite} {
		b.WriteByte('\t')
		if n == nil {
			b.WriteByte('-')
			continue
		}
		b.WriteString(strconv.FormatFloat(*n, 'f', -1, 64))
	}
	return b.String()
}

func git(clone string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", clone}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
