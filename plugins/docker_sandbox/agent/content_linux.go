package agent

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/domarkx/domarkx/plugins/sparse"
)

// hash answers a request with the SHA-256 of each file.
func (s *server) hash(ctx context.Context) error {
	paths, err := s.paths(ctx)
	if err != nil {
		return err
	}
	sums := make([][sha256.Size]byte, len(paths))
	failed := make([]error, len(paths))
	var wait sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), len(paths)))
	for k := range workers {
		wait.Go(func() {
			f := newDirOpener(s.root)
			defer f.close()
			for i := k; i < len(paths); i += workers {
				sums[i], failed[i] = sumFile(f, paths[i])
			}
		})
	}
	wait.Wait()
	for i, sum := range sums {
		if failed[i] != nil {
			return s.answer(failed[i])
		}
		if err := s.out.write(kindData, sum[:]); err != nil {
			return err
		}
	}
	return s.answer(nil)
}

func sumFile(f *dirOpener, path string) (sum [sha256.Size]byte, err error) {
	file, err := f.openFile(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, sparse.Reader(int(file.Fd()), math.MaxInt64)); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// read answers a request with the content of each file.
func (s *server) read(ctx context.Context) error {
	paths, err := s.paths(ctx)
	if err != nil {
		return err
	}
	f := newDirOpener(s.root)
	defer f.close()
	// No other goroutine writes during this request, so small answers can be buffered.
	w := bufio.NewWriterSize(s.out.w, 1<<16)
	out := &frameWriter{w: w}
	buffer := make([]byte, maxFrame)
	for _, path := range paths {
		file, err := f.openFile(path)
		if err == nil {
			_, err = io.CopyBuffer(dataWriter{out}, sparse.Reader(int(file.Fd()), math.MaxInt64), buffer)
			file.Close()
		}
		if err := out.answer(err); err != nil {
			return err
		}
	}
	return w.Flush()
}
