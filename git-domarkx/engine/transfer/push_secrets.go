package transfer

import (
	"context"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/scan"
)

// Secrets is the status of a session that is not sent because secrets were found in what would be sent.
const Secrets = "secrets"

// A secretFinder finds secrets in the history of tips that are not in that of known commits.
type secretFinder interface {
	Unsent(ctx context.Context, name string, tips, known []string) ([]scan.Finding, error)
}

// holdBack scans the commits to send of each session and its workspaces, and keeps back those with a finding. It
// returns the findings.
func (p *push) holdBack(ctx context.Context, finder secretFinder) ([]scan.Finding, error) {
	tips := map[string][]string{}
	for name, id := range p.send.Sessions {
		if id != "" {
			tips[name] = append(tips[name], id)
		}
	}
	for _, workspace := range slices.Sorted(maps.Keys(p.send.Workspaces)) {
		if id := p.send.Workspaces[workspace]; id != "" {
			tips[p.carrier[workspace]] = append(tips[p.carrier[workspace]], id)
		}
	}
	known := slices.AppendSeq(slices.Collect(maps.Values(p.tracked.Sessions)), maps.Values(p.tracked.Workspaces))
	var all []scan.Finding
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		found, err := finder.Unsent(ctx, name, tips[name], known)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		all = append(all, found...)
		p.results[name] = Result{Name: name, Status: Secrets, Failed: true}
		delete(p.send.Sessions, name)
		maps.DeleteFunc(p.send.Workspaces, func(workspace, _ string) bool { return p.carrier[workspace] == name })
	}
	return all, nil
}
