package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release and commit are set by the linker (see the Makefile). A release is built with -ldflags "-X main.release=v1.2.3".
var release, commit string

type versionCmd struct{ rowOption[versionResult] }

type versionResult struct {
	Version string `json:"version" doc:"the version, the commit and the Go release, as version prints it"`
}

func (c versionCmd) Run(inv *invocation) error {
	if c.JSON {
		return c.print(inv, versionResult{versionText(release, commit, buildInfo())})
	}
	_, err := fmt.Fprintln(inv.out, "git-domarkx version "+versionText(release, commit, buildInfo()))
	return err
}

func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

func versionText(version, commit string, info *debug.BuildInfo) string {
	if info != nil {
		if version == "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && commit == "":
				commit = s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += "+changes"
			}
		}
	}
	if version == "" {
		version = "(devel)"
	}
	if commit != "" {
		version += " (" + commit + ")"
	}
	return version + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
