package recording

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// FindRepository returns the common Git directory of the innermost repository that contains dir,
// and the top of its main work tree; without a main work tree, the top of the one that contains
// dir. It starts no program, because hooks must be fast. It ignores Git's environment variables,
// which agents set for other purposes.
func FindRepository(dir string) (commonDir, tree string, ok bool) {
	if !filepath.IsAbs(dir) {
		return "", "", false
	}
	for at := range agents.Upward(filepath.Clean(dir)) {
		if gitDir, found := gitDirAt(at); found {
			commonDir = commonOf(gitDir)
			if filepath.Base(commonDir) == ".git" {
				at = filepath.Dir(commonDir)
			}
			return commonDir, at, true
		}
	}
	return "", "", false
}

// gitDirAt returns the Git directory of the work tree whose top is a directory
// (gitrepository-layout(5)).
func gitDirAt(top string) (string, bool) {
	path := filepath.Join(top, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		_, err := os.Stat(filepath.Join(path, "HEAD"))
		return path, err == nil
	}
	data, err := agents.ReadRegular(path, 8192)
	if err != nil {
		return "", false
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(top, target)
	}
	return filepath.Clean(target), true
}

// commonOf returns the common directory of a Git directory.
func commonOf(gitDir string) string {
	data, err := agents.ReadRegular(filepath.Join(gitDir, "commondir"), 8192)
	if err != nil {
		return gitDir
	}
	common := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}
