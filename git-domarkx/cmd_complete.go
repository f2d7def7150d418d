package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// completeCmd is what the completion scripts of the shells call.
type completeCmd struct {
	Words []string `arg:"" optional:"" name:"WORD"`
}

// The lines that ask the shell itself to list files or folders.
const (
	completeFiles   = ":files"
	completeFolders = ":folders"
)

// Run prints what the last of the words behind "git domarkx" may be: a line WORD TAB
// MEANING for each candidate. Candidates need not begin with what was typed, the shell
// selects.
func (c *completeCmd) Run(inv *invocation) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	e := expect(inv.model, words)
	switch e.kind {
	case valueFile:
		fmt.Fprintln(inv.out, completeFiles)
		return nil
	case valueFolder:
		fmt.Fprintln(inv.out, completeFolders)
		return nil
	}
	candidates, err := inv.candidates(e)
	for _, candidate := range candidates {
		if word := e.prefix + candidate.word; visibleLine(word) == word {
			fmt.Fprintf(inv.out, "%s\t%s\n", word, visibleLine(candidate.about))
		}
	}
	return err
}

// candidates lists what meets an expectation here. An error may come with a part of them.
func (inv *invocation) candidates(e expectation) ([]candidate, error) {
	switch e.kind {
	case valueNone:
		return nil, nil
	case valueWord:
		return e.words, nil
	case valueRemote:
		remotes, err := inv.remotes()
		return plainWords(remotes), err
	}
	opened, err := inv.openStored() // the user waits: not for what a mount still stores
	if err != nil {
		return nil, err
	}
	i := strings.LastIndexAny(e.typed, "#:@")
	switch {
	case i >= 0 && e.typed[i] == '@' && e.kind == valueWorkspace:
		return inv.versionCandidates(opened, e.typed, i)
	case i >= 0 && e.typed[i] == '@' && e.kind == valueSession:
		return inv.snapshotCandidates(opened, e.typed, i)
	case i >= 0 && (e.kind == valueSession || e.kind == valueWorkspace):
		return inv.messageCandidates(opened, e.typed, i)
	}
	return inv.names(opened, e)
}

// names lists the names of the things of a kind.
func (inv *invocation) names(opened source, e expectation) ([]candidate, error) {
	switch e.kind {
	case valueSession:
		list, err := opened.store.List(inv.ctx)
		return sessionCandidates(list), err
	case valueRemoved:
		removed, err := opened.store.Trash(inv.ctx)
		names := map[string]bool{}
		for _, r := range removed {
			names[r.Name] = true
		}
		return plainWords(slices.Sorted(maps.Keys(names))), err
	case valueFetched:
		tips, err := sessionStore{opened.store, inv.warn, opened.pending}.Tracked(inv.ctx, e.before)
		return plainWords(slices.Sorted(maps.Keys(tips.Sessions))), err
	case valueWorkspace:
		list, err := opened.store.Workspaces(inv.ctx)
		var words []candidate
		for _, v := range list {
			words = append(words, candidate{v.Workspace, v.Subject})
		}
		return words, err
	case valueResource:
		return inv.resourceCandidates(opened, e.before)
	case valueZeus:
		saved, err := opened.sessions.ImportedFrom(inv.ctx, zeus.Name)
		if err != nil {
			return nil, err
		}
		files, err := zeusFiles(inv.zeusStateDir())
		return append(sessionCandidates(saved), plainWords(files)...), err
	}
	return nil, nil
}

func sessionCandidates(list []domarkx.Info) []candidate {
	var words []candidate
	for _, info := range list {
		words = append(words, candidate{info.Name, info.Summary()})
	}
	return words
}

// resourceCandidates lists the resources of a workspace, or of that of a session, whose
// name is the same unless it was attached elsewhere.
func (inv *invocation) resourceCandidates(opened source, owner string) ([]candidate, error) {
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
	var words []candidate
	for _, r := range v.Resources {
		words = append(words, candidate{r.ID, r.Type})
	}
	return words, err
}

// maxRevisions is how many snapshots, versions or messages are offered at most.
const maxRevisions = 1000

// messageCandidates lists the messages whose number begins with what stands behind
// the # or : at typed[i].
func (inv *invocation) messageCandidates(opened source, typed string, i int) ([]candidate, error) {
	revision, err := engine.ParseRevision(typed[:i])
	if err != nil {
		return nil, err
	}
	return offersOf(opened.sessions.Messages(inv.ctx, revision), func(m engine.MessageInfo) candidate {
		return candidate{typed[:i+1] + fmt.Sprint(m.K), string(m.Role) + ": " + m.FirstLine}
	}, typed)
}

// snapshotCandidates lists the snapshots whose id begins with what stands behind the @
// at typed[i].
func (inv *invocation) snapshotCandidates(opened source, typed string, i int) ([]candidate, error) {
	revision := engine.Revision{Name: typed[:i], Message: -1}
	return offersOf(opened.sessions.Log(inv.ctx, revision), func(s domarkx.Info) candidate {
		return candidate{typed[:i+1] + abbreviated(s.ID, typed[i+1:]), s.Subject}
	}, typed)
}

func (inv *invocation) versionCandidates(opened source, typed string, i int) ([]candidate, error) {
	revision := engine.Revision{Name: typed[:i], Message: -1}
	return offersOf(opened.sessions.VersionLog(inv.ctx, revision), func(v domarkx.Version) candidate {
		return candidate{typed[:i+1] + abbreviated(v.ID, typed[i+1:]), v.Subject}
	}, typed)
}

// abbreviated returns the beginning of an object id, at least as much as was typed.
func abbreviated(id, typed string) string { return id[:min(len(id), max(10, len(typed)))] }

// offersOf returns the first candidates that begin with what was typed.
func offersOf[T any](list iter.Seq2[T, error], candidateOf func(T) candidate, typed string) ([]candidate, error) {
	var words []candidate
	for item, err := range list {
		if err != nil {
			return words, err
		}
		if c := candidateOf(item); strings.HasPrefix(c.word, typed) {
			if words = append(words, c); len(words) == maxRevisions {
				break
			}
		}
	}
	return words, nil
}
