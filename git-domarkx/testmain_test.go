package main

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/plugins/process"
)

func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok { // doctor starts a command
		os.Exit(code)
	}
	os.Exit(shorttest.Main(m))
}
