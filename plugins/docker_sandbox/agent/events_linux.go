package agent

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// events counts how often limits of the container were reached.
type events struct{ processes, memory int64 }

// readEvents reads the counters of the container's cgroup, of version 2 or 1; they are 0 if it cannot see them.
func readEvents() events {
	return events{
		processes: counter("max", "/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events"),
		memory:    counter("oom_kill", "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"),
	}
}

// counter reads a counter from the first of some files that exists.
func counter(name string, paths ...string) int64 {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(line, name+" "); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				return n
			}
		}
	}
	return 0
}

// reached returns the limits that were reached since before. If no process can be forked any more, it kills all of them.
func (s *server) reached(before events) Reached {
	now := readEvents()
	r := Reached{Processes: now.processes > before.processes, Memory: now.memory > before.memory}
	if r.Processes {
		s.processes.killAll()
	}
	return r
}

// spareThreads is the number of threads that the agent has before commands run: when they use up the processes of the container,
// the agent could not get any, and a Go program ends then.
const spareThreads = 32

// holdThreads makes the runtime start threads, which it keeps.
func holdThreads() {
	var started, all sync.WaitGroup
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	defer read.Close()
	fd := int(read.Fd()) // reads block from here on
	started.Add(spareThreads)
	for range spareThreads {
		all.Go(func() {
			started.Done()
			_, _ = unix.Read(fd, make([]byte, 1))
		})
	}
	started.Wait()
	time.Sleep(time.Millisecond) // until most of them read
	write.Close()
	all.Wait()
}
