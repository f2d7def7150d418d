package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// UsePython makes PATH find the interpreter itself as python3. PATH may have a script of pyenv or asdf
// before it, which takes several times as long to start. Without Python, UsePython does nothing.
func UsePython() {
	program, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return
	}
	dir := filepath.Dir(strings.TrimSpace(string(program)))
	_ = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")) // fails if either contains a NUL
}
