package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

type identity struct {
	credential *syscall.Credential
	home       string
}

// lookupUser resolves "USER[:GROUP]" with the container's own /etc/passwd and /etc/group, as
// docker run --user does: names or numbers; "" is root. A number need not be listed there.
func lookupUser(spec string) (identity, error) {
	name, group, hasGroup := strings.Cut(spec, ":")
	if name == "" {
		name = "0"
	}
	who := identity{home: "/", credential: &syscall.Credential{}}
	known := false
	number, notNumber := strconv.ParseUint(name, 10, 31)
	err := eachLine("/etc/passwd", func(f []string) bool { // name:password:UID:GID:comment:home:shell
		if len(f) < 7 || f[0] != name && f[2] != name {
			return true
		}
		uid, err1 := strconv.ParseUint(f[2], 10, 32)
		gid, err2 := strconv.ParseUint(f[3], 10, 32)
		if err1 != nil || err2 != nil {
			return true
		}
		who.credential.Uid, who.credential.Gid = uint32(uid), uint32(gid)
		name, known = f[0], true
		if f[5] != "" {
			who.home = f[5]
		}
		return false
	})
	if err != nil {
		return identity{}, err
	}
	switch {
	case known:
	case notNumber != nil:
		return identity{}, fmt.Errorf("the container has no user %q in /etc/passwd", name)
	default:
		who.credential.Uid = uint32(number)
		if number == 0 {
			who.home = "/root"
		}
	}
	gid, notNumber := strconv.ParseUint(group, 10, 31)
	found := !hasGroup || notNumber == nil
	if hasGroup && notNumber == nil {
		who.credential.Gid = uint32(gid)
	}
	err = eachLine("/etc/group", func(f []string) bool { // name:password:GID:members
		if len(f) < 4 {
			return true
		}
		id, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			return true
		}
		if hasGroup && f[0] == group {
			who.credential.Gid, found = uint32(id), true
		}
		if !hasGroup && known && slices.Contains(strings.Split(f[3], ","), name) {
			who.credential.Groups = append(who.credential.Groups, uint32(id))
		}
		return true
	})
	if err != nil {
		return identity{}, err
	}
	if !found {
		return identity{}, fmt.Errorf("the container has no group %q in /etc/group", group)
	}
	return who, nil
}

// eachLine calls yield with the fields of each line until yield returns false. A missing file
// has no lines.
func eachLine(path string, yield func(fields []string) bool) error {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 16<<20))
	for lines.Scan() {
		if !yield(strings.Split(lines.Text(), ":")) {
			return nil
		}
	}
	return lines.Err()
}
