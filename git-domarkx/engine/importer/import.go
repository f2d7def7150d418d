package importer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/agentdir"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/redact"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

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
	Kept     []agentdir.Kept
	Attached []AttachedFile // files that were attached to sessions
}

// Import imports each document as a new session, or, if it was imported before, as the next snapshot of its session. It
// commits all valid documents together. It reports invalid documents in the result; they change nothing. The error is
// one that concerns all documents; then nothing was imported.
func (m *Manager) Import(ctx context.Context, r Request) (result Result, err error) {
	if r.As != "" && len(r.Paths) > 1 && !slices.Contains(r.Paths, "-") {
		return Result{}, fmt.Errorf("importing %d documents: %w: --as names one", len(r.Paths), domarkx.ErrInvalid)
	}
	if len(r.Attach) > 0 && len(r.Paths) != 1 {
		return Result{}, fmt.Errorf("importing %d documents: %w: files are attached to one", len(r.Paths), domarkx.ErrInvalid)
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return Result{}, err
	}
	c := &collector{manager: m, stdin: r.Stdin, stdinAs: r.As, format: r.Format, recognized: r.Recognized, large: r.Large}
	if len(r.Paths) == 1 {
		c.as = r.As
	}
	bad := func(err error) { result.Bad = append(result.Bad, err) }
	defer func() { err = errors.Join(err, c.close()) }()
	if c.known, err = sources.Open(m.env.StateDir); err != nil {
		return Result{}, err
	}
	todo, err := c.find(ctx, r.Paths, bad)
	if err != nil {
		return Result{}, err
	}
	result.Others = c.others
	keeper := agentdir.Keeper{Store: m.store, Env: m.env, Vacant: func(ctx context.Context, name string) error { return m.sessions.CheckVacant(ctx, "", name) }}
	homes, err := keeper.Keep(ctx, c.homes, func(err error) { result.Warnings = append(result.Warnings, err) })
	if err != nil {
		return Result{}, err
	}
	defer homes.Abort()
	links, err := m.linkRequest(ctx, r)
	if err != nil {
		return Result{}, err
	}
	var hidden []error // errors of sessions that cannot be read, by name
	for more := len(todo) > 0 || homes.Any(); more; more = len(todo) > 0 {
		var imp *importer
		err = m.sessions.Update(ctx, "import", func(tx *gitstore.Tx) error {
			imp = &importer{manager: m, tx: tx, homes: homes, change: engine.Change{Operation: "import", Author: author, Committer: committer},
				links: links, attach: r.Attach, ignore: r.Ignore, always: r.Redact, redactions: map[string]*redact.Document{}, made: map[string]bool{}, before: map[string]string{}, fresh: map[string]bool{}}
			if imp.sources, err = sources.Open(m.env.StateDir); err != nil {
				return err
			}
			if imp.here, hidden, err = m.infos(ctx); err != nil {
				return err
			}
			if err := homes.Commit(ctx, tx, imp.change); err != nil {
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
			return imp.sources.Save()
		})
		if err != nil {
			return Result{}, err
		}
		result.Kept = append(result.Kept, homes.Done()...)
		for _, saved := range imp.result.Sessions {
			result.add(saved)
		}
		result.Bad = append(result.Bad, imp.result.Bad...)
		result.Warnings = append(result.Warnings, imp.result.Warnings...)
		result.Attached = append(result.Attached, imp.result.Attached...)
		result.Empty += imp.result.Empty
		result.Redacted += imp.result.Redacted
		if err := imp.rememberSecrets(ctx); err != nil {
			result.Warnings = append(result.Warnings, fmt.Errorf("recording the numbers of secrets: %w", err))
		}
		result.Ignored += imp.result.Ignored
		todo = imp.later
	}
	result.Warnings = append(hidden, result.Warnings...)
	return result, homes.Settle()
}

// add adds the result for a document. If several documents belong to one session, the result of the last one counts.
func (r *Result) add(saved engine.SaveResult) {
	i := slices.IndexFunc(r.Sessions, func(s engine.SaveResult) bool { return s.Name == saved.Name })
	if i < 0 {
		r.Sessions = append(r.Sessions, saved)
		return
	}
	saved.Changed = saved.Changed || r.Sessions[i].Changed
	r.Sessions[i] = saved
}

// isBadDocument reports whether an error concerns only one document, so that the import can continue with the others.
func isBadDocument(err error) bool {
	var syntax *domarkx.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, domarkx.ErrInvalid) || errors.Is(err, domarkx.ErrExists) || errors.Is(err, domarkx.ErrUnsupported)
}

// An importer imports the documents of a request in one update.
type importer struct {
	manager    *Manager
	tx         *gitstore.Tx
	change     engine.Change
	attach     []string // paths of files to attach to the session
	ignore     func(title string) bool
	sources    *sources.Record
	here       map[string]domarkx.Info
	made       map[string]bool   // sessions that this request created
	before     map[string]string // tips that sessions had before this update
	fresh      map[string]bool   // snapshots that this update created, which cannot be read yet
	last       *domarkx.State    // content of the newest of these snapshots; nil if it is large
	lastID     string
	later      []found // documents that are left to the next update
	homes      *agentdir.Dirs
	links      *linkRequest         // nil if no stated versions are linked
	shared     *edit.SharedMessages // links for the current document
	forks      []engine.SaveResult  // results of the branches of the current document
	learned    []func()             // functions that record the document, called when all of it is stored
	stored     string               // tree of the document's original, once that is stored
	namedFiles attachedFiles        // the last document whose messages name files
	files      *fileSet             // files to import with the document; nil for none
	result     Result

	always     bool                        // whether to redact all documents
	redactions map[string]*redact.Document // by name of the session
}

// errLater is the error for a document that continues a snapshot of this update, which cannot be read before the update
// ends. The document is imported in the next update.
var errLater = errors.New("its session has to be stored first")

// one imports one document and adds the outcome to the result.
func (imp *importer) one(ctx context.Context, c *collector, f found) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	imp.forks, imp.stored, imp.learned = nil, "", nil
	imp.shared = &edit.SharedMessages{Known: map[uint64]*edit.SharedMessage{}}
	saved, ok, err := imp.sinceStamp(ctx, c, f)
	if err == nil && !ok && f.row.database == "" {
		saved, ok, err = imp.grown(ctx, c, f)
	}
	if err != nil {
		return err
	} else if ok {
		if saved.Name != "" {
			imp.addSessions(saved)
		}
		return nil
	}
	in, err := c.open(ctx, f)
	var unreadable *unreadableError
	if errors.As(err, &unreadable) {
		imp.result.Bad = append(imp.result.Bad, unreadable.error)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { in.close() }()
	if c.large != nil && in.isLarge() {
		c.large()
	}
	saved, err = imp.document(ctx, in)
	var redacted *redactError
	switch {
	case errors.As(err, &redacted) && saved.Name != "": // the error is that of a branch
		imp.addSessions(saved)
		f.always = true
		imp.later = append(imp.later, f)
		return nil
	case redacted != nil:
		saved, err = imp.again(ctx, &in, redacted)
	}
	var hidden *hiddenError
	switch {
	case errors.Is(err, errLater):
		f.late = true
		imp.later = append(imp.later, f)
	case isBadDocument(err) || errors.As(err, &hidden):
		imp.result.Bad = append(imp.result.Bad, err)
		if saved.Name != "" { // only this branch is bad; the next import tries it again
			imp.addSessions(saved)
		}
	case err != nil:
		return err
	case saved.Name != "":
		imp.addSessions(saved)
	}
	return nil
}

// addSessions adds the sessions to which a document was imported to the result.
func (imp *importer) addSessions(saved engine.SaveResult) {
	for _, s := range append([]engine.SaveResult{saved}, imp.forks...) {
		s.State = nil
		imp.result.Sessions = append(imp.result.Sessions, s)
	}
}

func (imp *importer) document(ctx context.Context, in input) (engine.SaveResult, error) {
	files := includeReader{root: filepath.Dir(in.path), digest: sha256.New(), redacted: in.withoutSecrets}
	defer files.close()
	print := newFingerprint()
	if in.redaction != nil {
		print = in.rawPrint.again()
	}
	images, writers := imageFinder{}, []io.Writer{files.digest, print}
	if in.codec.Images {
		writers = append(writers, &images)
	}
	if err := in.copyRaw(io.MultiWriter(writers...)); err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	in.images = images.found
	if in.redaction == nil {
		in.print = print
		files.digest.Sum(in.digest[:0])
	} else if !print.same(in.rawPrint) {
		return engine.SaveResult{}, inputError(in, errChanged)
	}
	known, isKnown, err := imp.known(ctx, in)
	if err != nil {
		return engine.SaveResult{}, inputError(in, err)
	}
	in.isSame = isKnown && known.Digest == files.sum()
	if in.isSame && !imp.homes.IsNew(in.home) && imp.links == nil {
		includes, err := in.includes()
		if err != nil {
			return engine.SaveResult{}, err
		}
		shows, err := in.showsImages()
		if err != nil {
			return engine.SaveResult{}, err
		}
		if !includes && !shows && len(imp.attach) == 0 {
			return imp.unchanged(ctx, in, known)
		}
	}
	include := files.read
	if in.path == "-" {
		include = nil
	}
	var saved engine.SaveResult
	isFirst := true
	for conv, err := range in.conversations(include) {
		if err != nil {
			return saved, err
		}
		if isFirst {
			conv.doc.Damage = append(conv.doc.Damage, in.damage...)
		}
		if !isFirst {
			fork, err := imp.fork(ctx, in, saved.Name, conv, files.sum())
			if err != nil {
				return saved, err
			}
			fork.State = nil // the states of all branches together would need too much memory
			imp.forks = append(imp.forks, fork)
			continue
		}
		if in.codec.Images && conv.messages.Len() == 0 && !isKnown { // agents create a transcript before it has a message
			imp.result.Empty++
			return engine.SaveResult{}, nil
		}
		if imp.ignored(&conv.doc.Header) {
			imp.result.Ignored++
			return engine.SaveResult{}, nil
		}
		if imp.files, err = imp.filesOf(ctx, in, conv, files.digest); err != nil {
			return saved, inputError(in, err)
		}
		defer imp.files.close()
		if in.isSame = isKnown && known.Digest == files.sum(); in.isSame && imp.links == nil {
			if more, err := imp.linksMore(ctx, in, conv.doc, known); err != nil {
				return engine.SaveResult{}, err
			} else if !more {
				return imp.unchanged(ctx, in, known)
			}
		}
		var done bool
		if saved, done, err = imp.conversation(ctx, in, conv, known, files.sum()); err != nil {
			return saved, err
		}
		if done {
			break
		}
		isFirst = false
	}
	if !saved.Changed { // otherwise the document was verified already
		if err := in.verify(); err != nil {
			return engine.SaveResult{}, inputError(in, err)
		}
	}
	for _, learn := range imp.learned {
		learn()
	}
	return saved, nil
}

// conversation imports a conversation as a new session, or as the next snapshot of its session. It reports whether the
// session already has this document or a later one.
func (imp *importer) conversation(ctx context.Context, in input, conv conversation, known sources.Source, digest string) (engine.SaveResult, bool, error) {
	doc := conv.doc
	save, err := imp.saveOf(ctx, &in, doc, known, digest)
	if err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	c := imp.change
	if c.Name, c.Base, err = imp.place(ctx, in, doc, save.known); err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	if err := imp.mustRedact(ctx, in, c); err != nil {
		return engine.SaveResult{}, false, err
	}
	if err := in.check(conv, c.Base == ""); err != nil {
		return engine.SaveResult{}, false, err
	}
	if old, err := imp.isOld(ctx, in, save, c); err != nil || old {
		return engine.SaveResult{Info: imp.here[c.Name]}, true, err
	}
	saved, err := imp.commit(ctx, in, conv, c)
	if errors.Is(err, errLater) {
		return engine.SaveResult{}, false, err
	}
	if err != nil {
		return engine.SaveResult{}, false, inputError(in, err)
	}
	if c.Base == "" {
		imp.made[c.Name] = true
	}
	for _, report := range doc.Damage {
		imp.result.Warnings = append(imp.result.Warnings, report)
	}
	if _, ok := imp.before[c.Name]; !ok {
		imp.before[c.Name] = imp.here[c.Name].ID
	}
	imp.here[c.Name] = saved.Info
	now := sources.Source{Session: c.Name, Snapshot: saved.Document, Digest: digest, Saved: save.at, Growth: growthOf(in, conv, saved)}
	imp.learned = append(imp.learned, func() { imp.remember(in, save, now) })
	return saved, false, nil
}

// inputError adds the name of a document to an error, unless the error has it.
func inputError(in input, err error) error {
	var syntax *domarkx.SyntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return fmt.Errorf("%s: %w", in.path, err)
}

func (imp *importer) commit(ctx context.Context, in input, conv conversation, c engine.Change) (engine.SaveResult, error) {
	made, err := imp.edition(ctx, in, conv, c)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e := made.edition
	c.Base = made.base
	attachments, isKept, err := imp.keepNamedFiles(ctx, in, e.Doc, e.Base)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Verify = in.verify
	for _, version := range made.links {
		e.NoteLink(version)
	}
	var contents []domarkx.Attachment
	if !in.isFork {
		if e.Files, contents, err = imp.files.store(ctx, imp.tx, c.Base); err != nil {
			return engine.SaveResult{}, err
		}
	}
	files, pictures, err := imp.attachPictures(ctx, in, conv.messages, c.Base)
	if err != nil {
		return engine.SaveResult{}, err
	}
	e.Files, e.Attachments = append(e.Files, files...), slices.Concat(attachments, contents, pictures)
	e.Linker = imp.homes.LinkerOf(in.home, e.Doc)
	if e.Stated, err = imp.links.of(ctx, c.Name); err != nil {
		return engine.SaveResult{}, err
	}
	if e.Linker != nil || e.Stated != nil {
		e.Shared = nil // the link of each message must be determined, also of shared ones
	}
	if (in.isSame || made.same && !isKept && len(e.Files) == 0) && e.Base != nil {
		if next, err := e.Next(ctx, imp.tx); err != nil || !next.Changed {
			imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
			return engine.SaveResult{Info: imp.here[c.Name], Document: c.Base}, err
		}
	}
	if err := imp.origin(ctx, in, e); err != nil {
		return engine.SaveResult{}, err
	}
	saved, err := imp.manager.sessions.CommitEdit(ctx, imp.tx, e, c)
	imp.stored = e.Origin
	if err == nil {
		imp.result.Warnings = append(imp.result.Warnings, e.Stated.Warnings(in.path)...)
		for _, f := range e.Files {
			imp.result.Attached = append(imp.result.Attached, AttachedFile{c.Name, f})
		}
	}
	if err == nil && saved.Changed {
		imp.fresh[saved.ID], imp.fresh[saved.Document] = true, true
		imp.last, imp.lastID = saved.State, saved.Document
	}
	return saved, err
}

// load returns the content of the snapshot that a document continues. If this update created the snapshot, load returns
// errLater, unless the snapshot is small and the last one that was created.
func (imp *importer) load(ctx context.Context, c engine.Change) (*view.View, error) {
	if tip := imp.here[c.Name].ID; imp.fresh[c.Base] && imp.lastID != c.Base || tip != c.Base && imp.fresh[tip] {
		return nil, errLater
	}
	switch {
	case imp.fresh[c.Base] && imp.last == nil:
		return nil, errLater
	case imp.fresh[c.Base]:
		return view.New(ctx, imp.manager.store, imp.last)
	}
	return view.Load(ctx, imp.manager.store, c.Base)
}
