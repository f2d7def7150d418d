// Package importer imports documents as sessions: Markdown, snapshots and the transcripts of other programs. It
// recognizes a document that it has imported before, continues its session with what the document has more, and stores
// the files that belong to a document. It also validates documents.
//
// An import has these steps. Each passes its result to the next:
//
//   - A collector finds documents: files, sessions in databases, standard input ([found]).
//   - recognise compares a document, or a branch of it, with the sessions of the repository ([recognised]). It reads no
//     more of the document than it must.
//   - A document that is not unchanged is decoded ([document.Conversation]), or only its new part ([growth]).
//   - edition makes an edit of the session ([edition.Edition]).
//   - store stores it, and records the document when all of it is stored.
//
// Homes, databases, saves, branches and parts of a session differ in the first two steps only. Below this package,
// document reads the bytes, edition knows from which snapshot a document was made, and what follows from that, and homes keeps
// the directories of programs.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/homes"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/gitstore"
)

// A Manager imports documents into a repository. Several goroutines may use it at once.
type Manager struct {
	sessions *engine.SessionManager
	store    *gitstore.Store
	codecs   []format.Codec
	env      local.Environment

	renamer Renamer
	keeper  homes.Keeper
}

// New returns a manager that imports into a store. With a nil store it can only validate.
func New(sessions *engine.SessionManager, store *gitstore.Store, env local.Environment) *Manager {
	vacant := func(ctx context.Context, name string) error { return sessions.CheckVacant(ctx, "", name) }
	return &Manager{sessions: sessions, store: store, codecs: sessions.Codecs(), env: env, keeper: homes.Keeper{Store: store, Env: env, Vacant: vacant}}
}

// A Request describes what to import, and how.
type Request struct {
	Paths  []string // files, directories, and "-" for Stdin
	As     string   // name of the session, if Paths names one document; otherwise the name for Stdin
	Format string   // name of a codec; "" to recognize the format of each document
	Stdin  io.Reader
	// Links says whether to link messages to the workspace versions that they state. Only versions of the session's
	// workspace, or of LinksOf, are linked.
	Links   bool
	LinksOf string   // name of a workspace; "" for that of each session
	Attach  []string // paths of files to attach to the session; Paths must name one document
	// Redact says whether to replace the secrets in all documents, and not only in those of redacted sessions.
	Redact bool
	// Recognized says whether to treat the files in Paths like those in directories: files of unknown formats are only
	// counted.
	Recognized bool
	// Ignore reports whether to leave out the conversations with a title; nil leaves out none. If the title of an
	// imported conversation changes to such a title, its session stays as it is.
	Ignore func(title string) bool
	// Large, if not nil, is called before a document is read whose import needs much memory.
	Large func()
	// Progress, if not nil, is called after each document.
	Progress func(done, total int)
}

// A Result is the result of an import.
type Result struct {
	Sessions []engine.SaveResult
	Bad      []error // one for each document that was not imported
	Warnings []error // problems in documents that were imported
	Others   int     // number of files in directories that are not sessions
	Redacted int     // number of secrets that were replaced
	Empty    int     // number of agents' transcripts without messages, which were not imported
	Ignored  int     // number of conversations that were left out because of Request.Ignore
	Kept     []homes.Kept
	Attached []AttachedFile // files that were attached to sessions

	at map[string]int // indexes in Sessions, by name
}

// Import imports each document as a new session, or, if it was imported before, as the next snapshot of its session. It
// commits all valid documents together. It reports invalid documents in the result; they change nothing. The error is
// one that concerns all documents; then nothing was imported.
func (m *Manager) Import(ctx context.Context, r Request) (result Result, err error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return Result{}, err
	}
	c := m.collector(r)
	bad := func(err error) { result.Bad = append(result.Bad, err) }
	defer func() { err = errors.Join(err, c.close()) }()
	c.known = sources.Open(m.env.StateDir)
	todo, err := c.find(ctx, bad)
	if err != nil {
		return Result{}, err
	}
	result.Others = c.others
	kept := &homes.Dirs{}
	if len(c.homes) > 0 {
		kept, err = m.keeper.Keep(ctx, c.homes, func(err error) { result.Warnings = append(result.Warnings, err) })
		if err != nil {
			return Result{}, err
		}
	}
	defer kept.Abort()
	links, err := m.linkRequest(ctx, r)
	if err != nil {
		return Result{}, err
	}
	var hidden []error // errors of sessions that cannot be read, by name
	for more := len(todo)+len(c.homes) > 0; more; more = len(todo) > 0 {
		var imp *importer
		err = m.sessions.Update(ctx, "import", func(tx *transaction.Tx) error {
			imp = &importer{manager: m, tx: tx, change: engine.Change{Operation: "import", Author: author, Committer: committer},
				options:  options{Request: r, links: links},
				sessions: sessions{made: map[string]bool{}, before: map[string]string{}, fresh: map[string]bool{}}}
			imp.sources = sources.Open(m.env.StateDir)
			if imp.here, hidden, err = m.infos(ctx); err != nil {
				return err
			}
			if err := kept.Commit(ctx, tx, imp.change); err != nil {
				return err
			}
			for i, f := range todo {
				if err := imp.one(ctx, c, f); err != nil {
					return err
				}
				if r.Progress != nil {
					r.Progress(i+1, len(todo))
				}
			}
			imp.forgetJoined()
			return imp.sources.Save()
		})
		if err != nil {
			return Result{}, err
		}
		result.Kept = append(result.Kept, kept.Done()...)
		result.merge(imp.result)
		todo = imp.later
	}
	result.Warnings = append(hidden, result.Warnings...)
	err = errors.Join(m.joinSubAgents(ctx, &result), kept.Settle())
	return result, err
}

// check returns an error if the request needs one document and names several, or names standard input without a name.
func (r *Request) check() error {
	if r.As == "" && slices.Contains(r.Paths, "-") {
		return fmt.Errorf("importing from standard input: %w: it has no name; give one with --as NAME", domarkx.ErrInvalid)
	}
	if r.As != "" && len(r.Paths) > 1 && !slices.Contains(r.Paths, "-") {
		return fmt.Errorf("importing %d documents: %w: --as names one", len(r.Paths), domarkx.ErrInvalid)
	}
	if len(r.Attach) > 0 && len(r.Paths) != 1 {
		return fmt.Errorf("importing %d documents: %w: files are attached to one", len(r.Paths), domarkx.ErrInvalid)
	}
	return nil
}

// merge adds the result of one update.
func (r *Result) merge(of Result) {
	for _, saved := range of.Sessions {
		r.add(saved)
	}
	r.Bad = append(r.Bad, of.Bad...)
	r.Warnings = append(r.Warnings, of.Warnings...)
	r.Attached = append(r.Attached, of.Attached...)
	r.Empty += of.Empty
	r.Redacted += of.Redacted
	r.Ignored += of.Ignored
}

// renamed records that a session got another name.
func (r *Result) renamed(from string, now domarkx.Info) {
	saved := engine.SaveResult{Info: now, Changed: true, Document: now.ID, Before: now}
	if i := slices.IndexFunc(r.Sessions, func(s engine.SaveResult) bool { return s.Name == from }); i >= 0 {
		saved = r.Sessions[i]
		saved.Name, saved.Changed = now.Name, true
		r.Sessions, r.at = slices.Delete(r.Sessions, i, i+1), nil // the indexes behind it change
	}
	for i := range r.Attached {
		if r.Attached[i].Session == from {
			r.Attached[i].Session = now.Name
		}
	}
	r.add(saved)
}

// add adds the result for a document. If several documents belong to one session, the result of the last one counts.
func (r *Result) add(saved engine.SaveResult) {
	if r.at == nil || len(r.at) != len(r.Sessions) {
		r.at = make(map[string]int, len(r.Sessions))
		for i, s := range r.Sessions {
			r.at[s.Name] = i
		}
	}
	i, there := r.at[saved.Name]
	if !there {
		r.at[saved.Name] = len(r.Sessions)
		r.Sessions = append(r.Sessions, saved)
		return
	}
	saved.Changed = saved.Changed || r.Sessions[i].Changed
	r.Sessions[i] = saved
}
