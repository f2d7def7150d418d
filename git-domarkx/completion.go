package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/format/all"
)

// A candidate is a possible completion of a word, with its description.
type candidate struct{ word, about string }

// A valueKind is the kind of thing that a word on the command line names.
type valueKind int

// The kinds of values.
const (
	valueNone      valueKind = iota // a value that cannot be listed
	valueWord                       // one of expectation.words
	valueFile                       // completed by the shell
	valueFolder                     // completed by the shell
	valueSession                    // a session, or a snapshot or message of one
	valueRemoved                    // a session in the trash
	valueRemote                     // a Git remote
	valueFetched                    // a session of the remote in the preceding argument
	valueWorkspace                  // a workspace, a version of one, or a message linked to one
	valueResource                   // a resource of the workspace or session in the preceding argument
	valueZeus                       // a snapshot of agents
)

// An expectation describes what can stand at the cursor of a command line.
type expectation struct {
	kind   valueKind
	prefix string      // the part of the word before the value, such as "--format="
	typed  string      // the part of the value that the user has typed
	words  []candidate // the candidates of valueWord
	before string      // the argument before the cursor; "" if it is the first
}

// expect returns what the last of the words after "git domarkx" can be.
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

// flagOf returns the option that a word names, or nil if no option matches, and whether
// the word also contains the value.
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
	case arg.Name == "COMMAND": // an argument of help and man
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

// kindOf returns what kind of value an argument of a command names.
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
