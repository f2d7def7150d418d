package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Session is the act of working on everything that a snapshot runs. An approval remains valid until the
// session changes its runnable content.
type Session struct {
	Info    domarkx.Info
	Settled bool // on everything but calls without a result
}

func (a Session) permitted(ctx context.Context, d *decision) (permission, error) {
	if err := d.content(ctx, a); err != nil {
		return permission{}, err
	}
	return permission{session: a.Info.Name, what: permit.What{Content: a.scope()}}, nil
}

func (a Session) scope() permit.Content {
	if a.Settled {
		return permit.Settled
	}
	return permit.Whole
}

// content requires the right to run the content of a snapshot.
func (d *decision) content(ctx context.Context, a Session) error {
	if err := d.m.ReadProject(); err != nil {
		return err
	}
	all, besides, err := d.m.Digests(ctx, a.Info)
	if err != nil {
		return err
	}
	needed := all.Whole
	if a.Settled {
		needed = all.Settled
	}
	held, err := d.m.Trusts(ctx, needed)
	if err != nil {
		return err
	}
	own := &decision{d.Gate, permit.Trusted}
	switch by := d.approved[all.Settled]; {
	case a.Settled && held:
	case a.Settled && by != permit.None:
		own.right = max(by, permit.Approved)
	default:
		if a.Settled { // what is said of the whole session includes the session without some of its calls
			if held, err = d.m.Trusts(ctx, all.Whole); err != nil {
				return err
			}
		}
		if err := own.need(ctx, all.Whole, held, func() (*UntrustedError, error) {
			listing, err := d.m.Listing(ctx, a.Info)
			return &UntrustedError{Session: a.Info.Name, Listing: listing}, err
		}); err != nil {
			return err
		}
		if a.Settled {
			if err := d.m.Grow(ctx, Digests{all.Settled, all.Settled}, a.Info.Name, all); err != nil {
				return err
			}
		}
	}
	if a.Settled {
		d.approved[all.Settled] = own.right
	}
	d.right = max(d.right, own.right)
	d.last = checkedContent{a.Info.Name, a.Info.ID, a.Settled, own.right, besides}
	return nil
}

// Open is the act of opening a workspace with the resources that a session's calls need. The permit has no resources
// if the session asks for none.
type Open struct {
	Session
	Workspace string
	Tip       domarkx.Version    // newest version of the workspace; the ID is empty if there is none
	In        permit.Confinement // of a new instance
}

func (a Open) permitted(ctx context.Context, d *decision) (permission, error) {
	if was := d.last; was.session != a.Info.Name || was.snapshot != a.Info.ID || was.settled != a.Settled {
		if err := d.content(ctx, a.Session); err != nil {
			return permission{}, err
		}
	}
	d.right = max(d.right, d.last.right)
	h, err := view.Header(ctx, d.m.store, a.Info.ID)
	if err != nil {
		return permission{}, err
	}
	asked, err := d.m.ResourcesIn(ctx, a.Info.Name, a.Workspace, h, a.Tip)
	if err != nil {
		return permission{}, err
	}
	if asked.Added.Digest() != d.last.besides { // versions and the file can come from anybody
		return permission{}, fmt.Errorf("%s or its workspace changed meanwhile: %w; nothing was run; try again", project.File, domarkx.ErrConflict)
	}
	return permission{a.Info.Name, permit.What{Content: a.scope(), Workspace: a.Workspace, Resources: asked.Specs}, a.In}, nil
}

// Present is the act of opening the live resources of a workspace, to compare and commit it. It needs no trust: an earlier
// permit made it live.
type Present struct {
	Workspace   string
	Directories bool // only these
}

func (a Present) permitted(_ context.Context, d *decision) (permission, error) {
	d.right = permit.Live
	p := permission{what: permit.What{Workspace: a.Workspace}}
	if a.Directories {
		p.in = permit.Directories
	}
	return p, nil
}

// Call is the act of making a call or running a block of code in a workspace.
type Call struct {
	By    permit.Permit // of the content with the call, or of the call itself (see [ModelCall])
	In    *plugins.Live
	Block domarkx.Block
}

func (a Call) permitted(ctx context.Context, d *decision) (permission, error) {
	by := a.By.What()
	d.right = a.By.Right()
	what := permit.What{Workspace: a.In.Name()}
	if a.Block.Language != toolcall.Language {
		if what.Code = &(permit.Code{Language: a.Block.Language, Text: a.Block.Text}); by.Content == permit.Nothing {
			return permission{}, a.refused()
		}
		return permission{session: a.By.Session(), what: what}, nil
	}
	asked, err := toolcall.Parse(a.Block.Text)
	if err != nil {
		return permission{}, err
	}
	what.Resource, what.Call = asked.Resource, &asked.Call
	if own := by.Call != nil && by.Resource == asked.Resource && by.Call.Tool == asked.Tool; by.Content != permit.Whole && !own {
		return permission{}, a.refused()
	}
	tools, listed, err := a.In.Tools(ctx, asked.Resource)
	if err != nil {
		return permission{}, err
	}
	if listed {
		specs := a.In.Specs()
		i := slices.IndexFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == asked.Resource })
		if err := d.tools(ctx, a.By.Session(), ListTools(specs[i], tools)); err != nil {
			return permission{}, err
		}
	}
	return permission{session: a.By.Session(), what: what}, nil
}

func (a Call) refused() error {
	return fmt.Errorf("session %q: a call that nobody approved: %w", a.By.Session(), domarkx.ErrInvalid)
}

// ModelCall is the act of making a call that a model asks for. Its permit is for [Call.By].
type ModelCall struct {
	Session        string
	Resource, Tool string
	ReadOnly       bool // see [domarkx.Tool]
	Listed         bool // whether the resource lists the tool itself
}

func (a ModelCall) permitted(ctx context.Context, d *decision) (permission, error) {
	p := permission{session: a.Session, what: permit.What{Resource: a.Resource, Call: &domarkx.Call{Tool: a.Tool}}}
	calls := d.consent.Calls
	d.right = permit.Option
	if calls.All || calls.ReadOnly && (a.ReadOnly || a.Listed && slices.Contains(calls.Listed, a.Resource+"__"+a.Tool)) {
		return p, nil
	}
	if calls.Ask == nil {
		return p, ErrNotAsked
	}
	d.right = permit.Approved
	switch answer, err := calls.Ask(ctx, a.Resource, a.Tool); {
	case err != nil:
		return p, err
	case answer == Deny:
		return p, ErrDeclined
	case answer != Allow:
		return p, ErrNotAsked
	}
	return p, nil
}

// Resume is the act of starting a program with a session as its context.
type Resume struct {
	Session string
	Program string
	Own     bool // whether the session is of this machine, not of a remote
}

func (a Resume) permitted(ctx context.Context, d *decision) (permission, error) {
	err := d.need(ctx, Digest{}.with("resume", a.Session, a.Program), a.Own, func() (*UntrustedError, error) {
		return &UntrustedError{Session: a.Session}, nil
	})
	return permission{session: a.Session, what: permit.What{Program: a.Program}}, err
}
