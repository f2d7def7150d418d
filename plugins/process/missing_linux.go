package process

import (
	"context"
	"io"
	"os"
)

// Missing returns the features that this system lacks to isolate confined commands, and what they can do
// therefore.
func Missing(ctx context.Context) []Lack {
	var lacks []Lack
	if !CanConfine() {
		lacks = append(lacks, Lack{"commands can write wherever you can: this kernel has no Landlock", "start a Linux of 5.13 or later with Landlock among the lsm= of its command line"})
	}
	r := NewRunner(true)
	// Whether the command succeeds does not matter.
	_, _ = r.Run(ctx, Command{Program: "/bin/true", Args: []string{"true"}, Dir: "/", Env: os.Environ(), Confined: CanConfine(), Writable: []string{os.TempDir()}}, io.Discard)
	if !r.HasNamespaces() {
		lacks = append(lacks, Lack{"commands can read and lock this program's state, leave System V IPC objects behind, change modes and times of your files, and write the Git directory of a work tree that they work in: you may not create namespaces",
			"as root: sysctl user.max_user_namespaces=10000 kernel.apparmor_restrict_unprivileged_userns=0; give a container CAP_SYS_ADMIN"})
	}
	if !canDenyKeys() {
		lacks = append(lacks, Lack{"commands can use your kernel keyrings, and leave keys there: this kernel has no seccomp filters", "start a Linux with CONFIG_SECCOMP_FILTER"})
	}
	return lacks
}
