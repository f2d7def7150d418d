package main

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// completeCmd is the hidden command that the shells' completion scripts call.
type completeCmd struct {
	Words []string `arg:"" optional:"" name:"WORD"`
}

// Lines after which the completion scripts complete names of files or directories.
const (
	completeFiles       = ":files"
	completeDirectories = ":directories"
)

// Run prints the candidates for the last word of a command line, one per line: the word, a tab and a description. A candidate
// need not begin with the typed word: the shell filters them.
func (c *completeCmd) Run(inv *invocation) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	e := clidoc.Expect(inv.model, words)
	switch e.Kind {
	case clidoc.ValueFile:
		fmt.Fprintln(inv.out, completeFiles)
		return nil
	case clidoc.ValueDirectory:
		fmt.Fprintln(inv.out, completeDirectories)
		return nil
	}
	candidates, err := inv.candidates(e)
	for _, candidate := range candidates {
		if word := e.Prefix + candidate.Word; visibleLine(word) == word {
			fmt.Fprintf(inv.out, "%s\t%s\n", word, visibleLine(oneLine(candidate.About)))
		}
	}
	return err
}

// candidates returns the words that can stand at the cursor. With an error, some may be missing.
func (inv *invocation) candidates(e clidoc.Expectation) ([]clidoc.Candidate, error) {
	switch e.Kind {
	case clidoc.ValueNone:
		return nil, nil
	case clidoc.ValueWord:
		return e.Words, nil
	case clidoc.ValueRemote:
		remotes, err := inv.remotes()
		return clidoc.PlainWords(remotes), err
	}
	opened, err := inv.openStored() // without waiting for saves in mounts, because the user is waiting
	if err != nil {
		return nil, err
	}
	i := strings.LastIndexAny(e.Typed, "#:@")
	switch {
	case i >= 0 && e.Typed[i] == '@' && e.Kind == clidoc.ValueWorkspace:
		return revisionCandidates(opened.sessions.VersionLog(inv.ctx, tipOf(e.Typed[:i])), e.Typed, i, func(v domarkx.Version) (id, about string) { return v.ID, v.Subject })
	case i >= 0 && e.Typed[i] == '@' && e.Kind == clidoc.ValueSession:
		return revisionCandidates(opened.sessions.Log(inv.ctx, tipOf(e.Typed[:i])), e.Typed, i, func(s domarkx.Info) (id, about string) { return s.ID, s.Subject })
	case i >= 0 && (e.Kind == clidoc.ValueSession || e.Kind == clidoc.ValueWorkspace):
		return inv.messageCandidates(opened, e.Typed, i)
	}
	return inv.names(opened, e)
}

// names lists the names that match the kind of an expectation.
func (inv *invocation) names(opened managers, e clidoc.Expectation) ([]clidoc.Candidate, error) {
	switch e.Kind {
	case clidoc.ValueSession:
		list, err := opened.store.List(inv.ctx)
		return sessionCandidates(list), err
	case clidoc.ValueRemoved:
		removed, err := opened.store.Trash(inv.ctx)
		names := map[string]bool{}
		for _, r := range removed {
			names[r.Name] = true
		}
		return clidoc.PlainWords(slices.Sorted(maps.Keys(names))), err
	case clidoc.ValueFetched:
		tips, err := opened.remotes.Tracked(inv.ctx, e.Before)
		return clidoc.PlainWords(slices.Sorted(maps.Keys(tips.Sessions))), err
	case clidoc.ValueWorkspace:
		list, err := opened.store.Workspaces(inv.ctx)
		return mapped(list, func(v domarkx.Version) clidoc.Candidate { return clidoc.Candidate{Word: v.Workspace, About: v.Subject} }), err
	case clidoc.ValueResource:
		return inv.resourceCandidates(opened, e.Before)
	case clidoc.ValueZeus:
		saved, err := opened.picker().ImportedFrom(inv.ctx, zeus.Name)
		if err != nil {
			return nil, err
		}
		files, err := zeusFiles(inv.zeusStateDir())
		return append(sessionCandidates(saved), clidoc.PlainWords(files)...), err
	}
	return nil, nil
}

func sessionCandidates(list []domarkx.Info) []clidoc.Candidate {
	return mapped(list, func(info domarkx.Info) clidoc.Candidate {
		return clidoc.Candidate{Word: info.Name, About: info.Summary()}
	})
}

// resourceCandidates lists the resources of owner, a workspace or a session. A session's
// workspace has the session's name, unless another one is attached.
func (inv *invocation) resourceCandidates(opened managers, owner string) ([]clidoc.Candidate, error) {
	revision, err := engine.ParseRevision(owner)
	if err != nil {
		return nil, err
	}
	attached, err := opened.sessions.Attached(inv.ctx)
	if err != nil {
		return nil, err
	}
	if workspace, ok := attached[revision.Name]; ok {
		revision = engine.Revision{Name: workspace, Message: -1}
	}
	v, err := opened.sessions.ResolveVersion(inv.ctx, revision)
	return mapped(v.Resources, func(r domarkx.ResourceVersion) clidoc.Candidate { return clidoc.Candidate{Word: r.ID, About: r.Type} }), err
}

// maxRevisions is the maximum number of snapshots, versions or messages that are offered.
const maxRevisions = 1000

// messageCandidates lists the messages whose number starts with the text after the # or : at typed[i].
func (inv *invocation) messageCandidates(opened managers, typed string, i int) ([]clidoc.Candidate, error) {
	revision, err := engine.ParseRevision(typed[:i])
	if err != nil {
		return nil, err
	}
	return offersOf(opened.sessions.Messages(inv.ctx, revision), func(m engine.MessageInfo) clidoc.Candidate {
		return clidoc.Candidate{Word: typed[:i+1] + fmt.Sprint(m.K), About: string(m.Role) + ": " + m.FirstLine}
	}, typed)
}

// revisionCandidates lists the snapshots or versions whose id starts with the text after the @ at typed[i].
func revisionCandidates[T any](log iter.Seq2[T, error], typed string, i int, describe func(T) (id, about string)) ([]clidoc.Candidate, error) {
	return offersOf(log, func(item T) clidoc.Candidate {
		id, about := describe(item)
		return clidoc.Candidate{Word: typed[:i+1] + abbreviated(id, typed[i+1:]), About: about}
	}, typed)
}

// tipOf returns the newest snapshot of a session, or version of a workspace.
func tipOf(name string) engine.Revision { return engine.Revision{Name: name, Message: -1} }

// abbreviated returns the first 10 characters of an object id, or more if more was typed.
func abbreviated(id, typed string) string { return id[:min(len(id), max(10, len(typed)))] }

// offersOf returns candidates that start with the typed text, at most maxRevisions.
func offersOf[T any](list iter.Seq2[T, error], candidateOf func(T) clidoc.Candidate, typed string) ([]clidoc.Candidate, error) {
	var words []clidoc.Candidate
	for item, err := range list {
		if err != nil {
			return words, err
		}
		if c := candidateOf(item); strings.HasPrefix(c.Word, typed) {
			if words = append(words, c); len(words) == maxRevisions {
				break
			}
		}
	}
	return words, nil
}

// The completion scripts. They call the program itself, with __complete.
var (
	//go:embed completion/git-domarkx.bash
	bashCompletion string
	//go:embed completion/_git-domarkx
	zshCompletion string
	//go:embed completion/git-domarkx.fish
	fishCompletion string
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" name:"SHELL" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(inv *invocation) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := inv.out.WriteString(script)
	return err
}
