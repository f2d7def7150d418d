package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/format/all"
)

// A candidate is a word that the user may want to type, and what it means.
type candidate struct{ word, about string }

// A valueKind says what a word on the command line names.
type valueKind int

// The kinds of values.
const (
	valueNone      valueKind = iota // nothing that can be listed
	valueWord                       // one of expectation.words
	valueFile                       // the shell lists these
	valueFolder                     // the shell lists these
	valueSession                    // or a snapshot or message of one
	valueRemoved                    // a session in the trash
	valueRemote                     // a remote of Git
	valueFetched                    // a session of the remote that is the argument before
	valueWorkspace                  // or a version of one, or the message that is linked to it
	valueResource                   // of the workspace or session that is the argument before
	valueZeus                       // a snapshot of agents
)

// An expectation is what may stand at the cursor of a command line.
type expectation struct {
	kind   valueKind
	prefix string      // what the word begins with before the value, as "--format="
	typed  string      // what has been typed of the value
	words  []candidate // of valueWord
	before string      // the argument before the cursor; "" when there is none
}

// expect returns what the last of the words behind "git domarkx" may be.
func expect(model *kong.Application, words []string) expectation {
	typed := words[len(words)-1]
	node := model.Node
	var arguments []string
	onlyArguments := false
	for i := 0; i < len(words)-1; i++ {
		word := words[i]
		switch {
		case onlyArguments:
			arguments = append(arguments, word)
		case word == "--":
			onlyArguments = true
		case strings.HasPrefix(word, "-") && word != "-":
			flag, attached := flagOf(node, model, word)
			if flag == nil || flag.IsBool() || attached {
				continue
			}
			if i++; i == len(words)-1 {
				return expectValue(flag, "", typed)
			}
		case len(node.Children) > 0:
			child := childOf(node, word)
			if child == nil {
				return expectation{}
			}
			node = child
		default:
			arguments = append(arguments, word)
		}
	}
	switch {
	case onlyArguments || !strings.HasPrefix(typed, "-"):
		return expectArgument(node, model, arguments, typed)
	case strings.HasPrefix(typed, "--") && strings.Contains(typed, "="):
		flag, _ := flagOf(node, model, typed)
		if flag == nil {
			return expectation{}
		}
		name, value, _ := strings.Cut(typed, "=")
		return expectValue(flag, name+"=", value)
	}
	return expectation{kind: valueWord, typed: typed, words: flagWords(node, model)}
}

// flagOf returns the option that a word gives, nil when there is no such option, and
// whether its value is in the same word.
func flagOf(node *kong.Node, model *kong.Application, word string) (flag *kong.Flag, attached bool) {
	flags := append(node.Flags[:len(node.Flags):len(node.Flags)], model.Flags...)
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, _, attached := strings.Cut(long, "=")
		for _, f := range flags {
			if f.Name == name {
				return f, attached
			}
		}
		return nil, false
	}
	for i, letter := range word[1:] {
		for _, f := range flags {
			if f.Short == letter && !f.IsBool() {
				return f, len(word) > 1+i+len(string(letter))
			}
		}
	}
	return nil, false
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

func expectValue(flag *kong.Flag, prefix, typed string) expectation {
	e := expectation{prefix: prefix, typed: typed}
	switch {
	case flag.Enum != "":
		e.kind, e.words = valueWord, plainWords(flag.EnumSlice())
	case flag.Name == "format":
		e.kind, e.words = valueWord, plainWords(formatNames())
	case flag.PlaceHolder == "DIR":
		e.kind = valueFolder
	case flag.PlaceHolder == "PATH":
		e.kind = valueFile
	}
	return e
}

func expectArgument(node *kong.Node, model *kong.Application, arguments []string, typed string) expectation {
	e := expectation{typed: typed}
	if len(arguments) > 0 {
		e.before = arguments[len(arguments)-1]
	}
	if len(node.Children) > 0 {
		e.kind, e.words = valueWord, commandWords(node)
		return e
	}
	place := len(arguments)
	if last := len(node.Positional) - 1; place > last {
		if last < 0 || !node.Positional[last].IsCumulative() {
			return e
		}
		place = last
	}
	arg := node.Positional[place]
	switch {
	case arg.Enum != "":
		e.kind, e.words = valueWord, plainWords(arg.EnumSlice())
	case arg.Name == "COMMAND": // of help and man
		described := model.Node
		for _, word := range arguments {
			if described = childOf(described, word); described == nil {
				return e
			}
		}
		e.kind, e.words = valueWord, commandWords(described)
	default:
		e.kind = kindOf(node, arg.Name, place)
		if e.kind == valueFetched && len(arguments) > 0 {
			e.before = arguments[0]
		}
	}
	return e
}

// kindOf returns what an argument of a command names.
func kindOf(node *kong.Node, arg string, place int) valueKind {
	switch verb := verbOf(node); {
	case verb == "restore":
		return valueRemoved
	case verb == "zeus restore":
		return valueZeus
	case verb == "rename" && place == 1, arg == "NEW", arg == "TOOL", arg == "KEY=VALUE":
		return valueNone
	case (verb == "fetch" || verb == "pull") && arg == "NAME":
		return valueFetched
	case strings.HasPrefix(arg, "WS"), strings.HasPrefix(verb, "workspace ") && (arg == "A" || arg == "B"):
		return valueWorkspace
	case arg == "RESOURCE":
		return valueResource
	case arg == "PATH":
		return valueFile
	case arg == "DIR":
		return valueFolder
	case arg == "REMOTE":
		return valueRemote
	}
	return valueSession
}

func commandWords(node *kong.Node) []candidate {
	var words []candidate
	for _, child := range node.Children {
		if !child.Hidden {
			words = append(words, candidate{child.Name, strings.TrimSuffix(child.Help, ".")})
		}
	}
	return words
}

func flagWords(node *kong.Node, model *kong.Application) []candidate {
	var words []candidate
	add := func(flags []*kong.Flag) {
		for _, f := range flags {
			name := f.Name
			if f.Tag.Negatable != "" {
				name = "no-" + name
			}
			if !f.Hidden {
				words = append(words, candidate{"--" + name, strings.TrimSuffix(f.Help, ".")})
			}
		}
	}
	if node != model.Node {
		add(node.Flags)
	}
	add(model.Flags)
	return words
}

func plainWords(words []string) []candidate {
	list := make([]candidate, len(words))
	for i, word := range words {
		list[i].word = word
	}
	return list
}

func formatNames() []string {
	var names []string
	for _, codec := range all.Codecs() {
		names = append(names, codec.Name)
	}
	return names
}
