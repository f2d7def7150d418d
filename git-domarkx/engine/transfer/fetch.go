package transfer

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/gitstore/refname"
)

// A fetchResult holds the state of the remote.
type fetchResult struct {
	Before, After Tips // tips on the remote before and after the fetch, as far as they passed verification
	// Rejected has the reasons why the contents of references on the remote were not accepted.
	Rejected map[string]error
}

// rejection returns the error of a session or of one of its workspaces, or nil.
func (f fetchResult) rejection(session string, workspaces ...string) error {
	err := f.Rejected[refname.Sessions.Ref(session)]
	for _, workspace := range append([]string{session}, workspaces...) {
		err = cmp.Or(err, f.Rejected[refname.Workspaces.Ref(workspace)])
	}
	return err
}

// UpToDate is the status of a session that needed no change.
const UpToDate = "up to date"

// NotSent is the status of a session that was not sent because another session or workspace was rejected.
const NotSent = "rejected: not sent, for another session or workspace was rejected"

// A Result describes the push, fetch or pull of one session and its workspaces.
type Result struct {
	Name   string
	Status string // a few words; starts with "rejected" if nothing was sent
	Failed bool

	Redacted bool // the local history was replaced by a redacted one
	Expired  bool // the local history was replaced by one without the files of old versions
}

// Fetch downloads the sessions of a remote without changing local ones. If names is empty, it
// reports on all sessions. Errors of single sessions are in their results.
func (m *Manager) Fetch(ctx context.Context, remote string, names []string, progress io.Writer) ([]Result, error) {
	fetched, err := m.fetch(ctx, remote, names, progress)
	if err != nil {
		return nil, err
	}
	before, after := fetched.Before, fetched.After
	var all []Result
	for _, name := range fetched.chosen(names) {
		old, now := before.Sessions[name], after.Sessions[name]
		status := UpToDate
		switch bad := fetched.rejection(name); {
		case bad != nil:
			all = append(all, rejected(name, bad))
			continue
		case now == "" && old == "":
			all = append(all, Result{Name: name, Status: notThere, Failed: true})
			continue
		case now == "":
			status = "removed there"
		case old == "":
			status = "new"
		case old != now, before.Workspaces[name] != after.Workspaces[name]:
			status = "updated"
		}
		all = append(all, Result{Name: name, Status: status})
	}
	return all, m.rememberRemoved(remote, before, after)
}

// chosen returns names, or if names is empty, all sessions that the remote has or had and all rejected workspaces.
func (f fetchResult) chosen(names []string) []string {
	rejected := map[string]string{}
	for ref := range f.Rejected {
		_, name := refname.Of(ref)
		rejected[name] = name
	}
	return chosen(names, f.Before.Sessions, f.After.Sessions, rejected)
}

// rejected returns the result for a session that was not accepted.
func rejected(name string, err error) Result {
	return Result{Name: name, Status: "rejected: " + err.Error(), Failed: true}
}

// chosen returns names, or if names is empty, the sorted keys of all maps.
func chosen(names []string, tips ...map[string]string) []string {
	if len(names) > 0 {
		return names
	}
	all := map[string]bool{}
	for _, t := range tips {
		for name := range t {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
