package refdb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/gitstore/glob"
)

// lockers contains the git commands that lock references other than that of the current branch. The value is true for a
// command that may hold a lock for long, because another program controls it.
var lockers = map[string]bool{
	"update-ref": true, "receive-pack": true, "fast-import": true,
	"branch": false, "fetch": false, "notes": false, "pack-refs": false, "reflog": false, "refs": false, "remote": false, "replace": false, "tag": false,
}

// livingGit returns a running process that may hold a lock file that was written at the given time, or nil if there is
// none. Such a process is a git command in lockers that was started before that time and works in this repository, as its
// working directory, arguments and environment show. Processes that hold locks for long are preferred.
func (r *Refs) livingGit(written time.Time) *owner {
	processes, err := readDir("/proc")
	if err != nil {
		return &owner{name: "an unknown process"}
	}
	var found *owner
	var places []string
	for _, process := range processes {
		pid, err := strconv.Atoi(process.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", process.Name())
		comm, err := os.ReadFile(dir + "/comm")
		if err != nil || !isGit(strings.TrimSpace(string(comm))) {
			continue
		}
		line, err := os.ReadFile(dir + "/cmdline")
		if err != nil || len(line) == 0 {
			continue // the process has ended
		}
		command := subcommand(strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"))
		lasting, locks := lockers[command]
		started, stopped, ok := processState(dir)
		if !locks || !ok || started.After(written.Add(100*time.Millisecond)) {
			continue
		}
		if places == nil {
			places = r.places()
		}
		if worksIn(dir, string(line), places) && (found == nil || !found.lasting) {
			found = &owner{fmt.Sprintf("%q (process %d)", "git "+command, pid), lasting || stopped}
		}
	}
	return found
}

func isGit(comm string) bool {
	return comm == "git" || strings.HasPrefix(comm, "git-") && !strings.HasPrefix(comm, "git-domarkx")
}

// valued lists git's options whose value is the next argument (git(1)).
var valued = []string{"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"}

// subcommand returns the git command that a process runs, such as "fetch", given the process's arguments.
func subcommand(args []string) string {
	if name, ok := strings.CutPrefix(filepath.Base(args[0]), "git-"); ok {
		return name
	}
	for i := 1; i < len(args); i++ {
		switch {
		case slices.Contains(valued, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// processState returns when a process was started, with an error of some hundredths of a second, and whether it is stopped
// by a signal or debugger (proc_pid_stat(5), fields 22 and 3). dir is its directory in /proc.
func processState(dir string) (started time.Time, stopped, ok bool) {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return time.Time{}, false, false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}, false, false
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all architectures that Go supports
	at, err := strconv.ParseInt(fields[19], 10, 64)
	boot := bootTime()
	if err != nil || boot.IsZero() {
		return time.Time{}, false, false
	}
	return boot.Add(time.Duration(at) * tick), fields[0] == "T" || fields[0] == "t", true
}

// bootTime returns when the machine was started, with an error of some hundredths of a second, or the zero time if that is
// unknown.
func bootTime() time.Time {
	uptime, err := os.ReadFile("/proc/uptime")
	now := time.Now()
	if err != nil {
		return time.Time{}
	}
	first, _, _ := strings.Cut(string(uptime), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return time.Time{}
	}
	return now.Add(-time.Duration(seconds * float64(time.Second)))
}

// places returns the directories in which a git command for this repository may run: the common directory and all work
// trees, without symbolic links in their paths.
func (r *Refs) places() []string {
	places := []string{r.common, r.git.WorkTree}
	links, _ := glob.Below(r.common, "worktrees/*/gitdir")
	for _, link := range links {
		if data, err := os.ReadFile(link); err == nil {
			places = append(places, filepath.Dir(strings.TrimSpace(string(data))))
		}
	}
	known := []string{}
	for _, place := range places {
		if real, err := filepath.EvalSymlinks(place); err == nil && place != "" {
			known = append(known, real)
		}
	}
	return known
}

// worksIn reports whether a process, given by its directory in /proc and its command line, has a working directory in one
// of the places, or names one in an option (--git-dir …) or environment variable (GIT_DIR=…).
func worksIn(dir, line string, places []string) bool {
	cwd, err := os.Readlink(dir + "/cwd")
	if err != nil {
		return false // the process has ended, or belongs to another user
	}
	environment, _ := os.ReadFile(dir + "/environ")
	text := line + string(environment)
	for _, place := range places {
		if cwd == place || strings.HasPrefix(cwd, place+"/") || strings.Contains(text, "="+place) || strings.Contains(line, "\x00"+place) {
			return true
		}
	}
	return false
}
