//go:build !linux && !darwin && !freebsd

package local

import "os"

func changeTime(os.FileInfo) int64 { return 0 }
