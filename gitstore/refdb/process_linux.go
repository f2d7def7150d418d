package refdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lockers are the git commands that lock references other than that of the checked-out
// branch. The value is true for commands that may hold a lock for long, because another
// program controls them.
var lockers = map[string]bool{
	"update-ref": true, "receive-pack": true, "fast-import": true,
	"branch": false, "fetch": false, "notes": false, "pack-refs": false, "reflog": false, "refs": false, "remote": false, "replace": false, "tag": false,
}

// livingGit returns a process that may hold a lock file of this repository that was written at
// that time: a git that was started before, locks references, and has the repository as its
// working directory or in its arguments or environment. It returns nil if there is none.
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

// subcommand returns the git command in the arguments of a process.
func subcommand(args []string) string {
	if name, ok := strings.CutPrefix(filepath.Base(args[0]), "git-"); ok {
		return name
	}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// processState returns when a process was started, within some hundredths of a second, and
// whether it is stopped (proc_pid_stat(5), fields 3 and 22).
func processState(dir string) (started time.Time, stopped, ok bool) {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return time.Time{}, false, false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}, false, false
	}
	const tick = 10 * time.Millisecond // the same on every Linux that Go supports
	at, err := strconv.ParseInt(fields[19], 10, 64)
	boot := bootTime()
	if err != nil || boot.IsZero() {
		return time.Time{}, false, false
	}
	return boot.Add(time.Duration(at) * tick), fields[0] == "T" || fields[0] == "t", true
}

// bootTime returns when the machine was started, within some hundredths of a second; the zero
// time if unknown.
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

// places returns the directories in which a git works on this repository.
func (r *Refs) places() []string {
	places := []string{r.common, r.git.WorkTree}
	links, _ := filepath.Glob(filepath.Join(r.common, "worktrees", "*", "gitdir"))
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

// worksIn reports whether a process has one of the places as its working directory, or in its
// arguments or environment.
func worksIn(dir, line string, places []string) bool {
	cwd, err := os.Readlink(dir + "/cwd")
	if err != nil {
		return false // the process has ended, or belongs to another user
	}
	environment, _ := os.ReadFile(dir + "/environ")
	text := line + string(environment)
	for _, place := range places {
		if cwd == place || strings.HasPrefix(cwd, place+"/") || strings.Contains(text, "="+place) {
			return true
		}
	}
	return false
}
