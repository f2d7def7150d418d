package clidoc

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/format/all"
)

// A Candidate is a possible completion of a word, with its description.
type Candidate struct{ Word, About string }

// A valueKind is the kind of value that a word on the command line must be.
type valueKind int

// The kinds of values.
const (
	ValueNone      valueKind = iota // a value that cannot be listed
	ValueWord                       // one of Expectation.Words
	ValueFile                       // completed by the shell
	ValueDirectory                  // completed by the shell
	ValueSession                    // a session, or a snapshot or message of one
	ValueRemoved                    // a session in the trash
	ValueRemote                     // a Git remote
	ValueFetched                    // a session of the remote in the preceding argument
	ValueWorkspace                  // a workspace, a version of one, or a message linked to one
	ValueResource                   // a resource of the workspace or session in the preceding argument
	ValueZeus                       // a snapshot of agents
)

// An Expectation describes which words can stand at the cursor of a command line.
type Expectation struct {
	Kind   valueKind
	Prefix string      // the part of the word before the value, such as "--format="
	Typed  string      // the part of the value that the user has typed
	Words  []Candidate // the possible words, if Kind is ValueWord
	Before string      // the argument before the cursor; "" if it is the first
}

// Expect returns what the last one of words can be. words are the words after "git domarkx", at least one.
func Expect(model *kong.Application, words []string) Expectation {
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
				return Expectation{}
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
			return Expectation{}
		}
		name, value, _ := strings.Cut(typed, "=")
		return expectValue(flag, name+"=", value)
	}
	return Expectation{Kind: ValueWord, Typed: typed, Words: flagWords(node, model)}
}

// flagOf returns the option that a word names, or nil if there is none, and whether the word also contains the option's value.
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

func expectValue(flag *kong.Flag, prefix, typed string) Expectation {
	e := Expectation{Prefix: prefix, Typed: typed}
	switch {
	case flag.Enum != "":
		e.Kind, e.Words = ValueWord, PlainWords(flag.EnumSlice())
	case flag.Name == "format": // its tag lists formats that only this command has
		e.Kind, e.Words = ValueWord, PlainWords(append(FormatNames(), strings.Fields(flag.Tag.Get("formats"))...))
	case flag.PlaceHolder == "DIR":
		e.Kind = ValueDirectory
	case flag.PlaceHolder == "PATH":
		e.Kind = ValueFile
	}
	return e
}

func expectArgument(node *kong.Node, model *kong.Application, arguments []string, typed string) Expectation {
	e := Expectation{Typed: typed}
	if len(arguments) > 0 {
		e.Before = arguments[len(arguments)-1]
	}
	if len(node.Children) > 0 {
		e.Kind, e.Words = ValueWord, commandWords(node)
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
		e.Kind, e.Words = ValueWord, PlainWords(arg.EnumSlice())
	case arg.Name == "COMMAND": // of help and man
		described := model.Node
		for _, word := range arguments {
			if described = childOf(described, word); described == nil {
				return e
			}
		}
		e.Kind, e.Words = ValueWord, commandWords(described)
	default:
		e.Kind = kindOf(node, arg.Name, place)
		if e.Kind == ValueFetched && len(arguments) > 0 {
			e.Before = arguments[0]
		}
	}
	return e
}

// kindOf returns the kind of value that an argument of a command must be.
func kindOf(node *kong.Node, arg string, place int) valueKind {
	switch verb := VerbOf(node); {
	case verb == "restore":
		return ValueRemoved
	case verb == "zeus restore":
		return ValueZeus
	case verb == "rename" && place == 1, arg == "NEW", arg == "TOOL", arg == "KEY=VALUE":
		return ValueNone
	case (verb == "fetch" || verb == "pull") && arg == "NAME":
		return ValueFetched
	case strings.HasPrefix(arg, "WS"), strings.HasPrefix(verb, "workspace ") && (arg == "A" || arg == "B"):
		return ValueWorkspace
	case arg == "RESOURCE":
		return ValueResource
	case arg == "PATH":
		return ValueFile
	case arg == "DIR":
		return ValueDirectory
	case arg == "REMOTE":
		return ValueRemote
	}
	return ValueSession
}

func commandWords(node *kong.Node) []Candidate {
	var words []Candidate
	for _, child := range node.Children {
		if !child.Hidden {
			words = append(words, Candidate{child.Name, strings.TrimSuffix(child.Help, ".")})
		}
	}
	return words
}

func flagWords(node *kong.Node, model *kong.Application) []Candidate {
	var words []Candidate
	add := func(flags []*kong.Flag) {
		for _, f := range flags {
			name := f.Name
			if f.Tag.Negatable != "" {
				name = "no-" + name
			}
			if !f.Hidden {
				words = append(words, Candidate{"--" + name, strings.TrimSuffix(f.Help, ".")})
			}
		}
	}
	if node != model.Node {
		add(node.Flags)
	}
	add(model.Flags)
	return words
}

// PlainWords returns words as candidates without descriptions.
func PlainWords(words []string) []Candidate {
	list := make([]Candidate, len(words))
	for i, word := range words {
		list[i].Word = word
	}
	return list
}

// FormatNames returns the names of all formats.
func FormatNames() []string {
	var names []string
	for _, codec := range all.Codecs() {
		names = append(names, codec.Name)
	}
	return names
}
