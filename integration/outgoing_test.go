package integration_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A planter makes a random history that has a key in one place.
type planter struct {
	*site
	random *rand.Rand
	n      int
}

// key returns two halves of a new key with a form of its own. Only what joins them has the key.
func (p *planter) key() (first, second string) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	key := []byte("AKIA")
	for range 16 {
		key = append(key, letters[p.random.IntN(len(letters))])
	}
	return string(key[:9]), string(key[9:])
}

// step does something without a secret: files are added, changed, renamed and removed, messages appended and edited,
// sessions forked.
func (p *planter) step() {
	p.n++
	name := fmt.Sprintf("f%d", p.random.IntN(4))
	switch p.random.IntN(9) {
	case 0, 1:
		p.run(fmt.Sprintf("echo %d > %s", p.random.IntN(3), name))
	case 2:
		p.run("rm -rf " + name)
	case 3:
		p.run(fmt.Sprintf("mv %s g%d || true", name, p.n))
	case 4:
		p.run("mkdir -p d && cp -r f* d/ || true")
	case 5:
		p.run("rm -rf d; mv g* d || true")
	case 6:
		p.domarkx("append", "-m", fmt.Sprint("message ", p.n), "s")
	case 7:
		p.with("GIT_EDITOR=sed -i s/message/word/").domarkx("edit", "s")
	case 8:
		p.domarkx("fork", "s", fmt.Sprint("fork", p.n))
	}
}

// plants are the places of a key. Each leaves it in the history and nowhere else.
var plants = map[string]func(p *planter, first, second string){
	"a file": func(p *planter, a, b string) {
		p.run("printf '%s%s' " + a + " " + b + " > kept.env")
		p.removed("kept.env")
	},
	"the name of a file": func(p *planter, a, b string) {
		p.run("n=" + a + "; echo 1 > ${n}" + b)
		p.removed("A*")
	},
	"the new name of a file": func(p *planter, a, b string) {
		p.run("echo same > old")
		p.run("n=" + a + "; mv old ${n}" + b)
		p.removed("A*")
	},
	"the new name of a directory": func(p *planter, a, b string) {
		p.run("mkdir -p old/sub && echo same > old/sub/x")
		p.run("n=" + a + "; mv old ${n}" + b)
		p.removed("A*")
	},
	"the name of an empty directory": func(p *planter, a, b string) {
		p.run("n=" + a + "; mkdir ${n}" + b)
		p.removed("A*")
	},
	"the target of a link": func(p *planter, a, b string) {
		p.run("n=" + a + "; ln -s ${n}" + b + " link")
		p.removed("link")
	},
	"an attribute": func(p *planter, a, b string) {
		p.run("echo 1 > attributed; n=" + a + "; setfattr -n user.k -v ${n}" + b + " attributed")
		p.removed("attributed")
	},
	"a large file": func(p *planter, a, b string) {
		p.run("seq 400000 > large; printf '%s%s\\n' " + a + " " + b + " >> large; seq 400000 >> large")
		p.removed("large")
	},
	"a message": func(p *planter, a, b string) {
		p.domarkx("append", "-m", "it is "+a+b, "s")
		if p.random.IntN(2) == 0 {
			p.with("GIT_EDITOR=sed -i s/"+a+b+"/nothing/").domarkx("edit", "s")
		}
	},
	"a call":             func(p *planter, a, b string) { p.run("true " + a + b) },
	"an author":          func(p *planter, a, b string) { p.with("GIT_AUTHOR_NAME="+a+b).domarkx("append", "-m", "by", "s") },
	"the name of a fork": func(p *planter, a, b string) { p.domarkx("fork", "s", a+b) },
	"the member of JSON": func(p *planter, a, b string) {
		p.run("n=" + a + "; printf '{\"%s\": 1}' ${n}" + b + " > members.json")
		p.removed("members.json")
	},
	"an attachment": func(p *planter, a, b string) {
		p.write("notes.txt", a+b)
		p.write("a.md", "## user\n\nSee [the notes](notes.txt).\n")
		p.domarkx("import", "--attach", "notes.txt", "a.md")
	},
}

// removed removes a file of the workspace in half of the histories, so that only an earlier version has it.
func (p *planter) removed(name string) {
	if p.random.IntN(2) == 0 {
		p.run("rm -rf " + name)
	}
}

// TestNoSecretLeaves makes random histories with a key in one place. No object and no name at the remote has the key after
// a push. Sent with --allow-secrets, a search of the objects finds it, so the test looks at the right places.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	needProgram(t, "setfattr")
	rounds := 1
	if soaking() {
		rounds = 30
	}
	for place, plant := range plants {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			for round := range rounds {
				seed := uint64(round)*1000 + uint64(len(place))
				s, _ := newWorked(t)
				p := &planter{site: s, random: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // the same each time
				for _, hub := range []string{"hub", "open"} {
					p.git("init", "-q", "--bare", hub)
					p.git("remote", "add", hub, hub)
				}
				for range 2 {
					p.step()
				}
				first, second := p.key()
				plant(p, first, second)
				for range 3 {
					p.step()
				}
				if o := p.try("", "git-domarkx", "push", "--all", "hub"); o.code != 1 {
					t.Errorf("seed %d: expected that the push is refused: %s", seed, o)
				}
				if found := p.searched("hub", first+second); found != "" {
					t.Errorf("seed %d: the remote has the key: %s", seed, found)
				}
				p.domarkx("push", "--all", "--allow-secrets", "open")
				if p.searched("open", first+second) == "" && place != "a large file" && place != "an attribute" { // cut, and encoded
					t.Errorf("seed %d: the search does not find the key", seed)
				}
			}
		})
	}
}

// searched returns the objects and references of a repository that contain a text.
func (s *site) searched(repository, text string) string {
	s.tb.Helper()
	hub := s.at(repository)
	found := ""
	for line := range strings.Lines(hub.git("for-each-ref")) {
		if strings.Contains(line, text) {
			found += line
		}
	}
	all := hub.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(all) {
		id, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(hub.git("cat-file", kind, id), text) {
			found += line
		}
	}
	return found
}
