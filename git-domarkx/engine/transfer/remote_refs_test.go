package transfer

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/remote"
)

// TestPushStatus checks which results are failures, that is, have a status that starts with
// "rejected": exactly those after which the remote does not have the pushed objects.
func TestPushStatus(t *testing.T) {
	for status, want := range map[remote.Status]string{
		remote.Created: "new", remote.Updated: "updated", remote.Deleted: "removed there", remote.UpToDate: UpToDate,
		remote.Stale: "rejected: ", remote.NotTried: "rejected: ", remote.Unknown: "rejected: ", remote.Refused: "rejected by the remote: hook declined",
	} {
		got := pushStatus(remote.Result{Status: status, Reason: "hook declined"})
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, expected %q", status, got, want)
		}
		if strings.HasPrefix(got, "rejected") == status.OK() {
			t.Errorf("%s: %q does not say whether it was taken", status, got)
		}
	}
}
