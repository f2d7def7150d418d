package recording

import (
	"io/fs"
	"os/exec"
)

func detach(*exec.Cmd) {}

func isOwn(fs.FileInfo) bool { return true }
