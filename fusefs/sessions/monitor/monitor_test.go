package monitor_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/domarkx/domarkx/fusefs/sessions/monitor"
)

func TestStepsExcludeEachOther(t *testing.T) {
	const goroutines, steps = 8, 1000
	m := monitor.New(0)
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range steps {
				m.Do(func(n *int) { *n++ })
			}
		})
	}
	all.Wait()
	m.Do(func(n *int) {
		if *n != goroutines*steps {
			t.Errorf("%d steps of %d count", *n, goroutines*steps)
		}
	})
}

func TestWhenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, done := monitor.New(0), 0
		for range 2 {
			go m.When(func(n *int) bool { return *n >= 2 }, func(*int) { done++ })
		}
		for steps, want := range []int{0, 0, 2} {
			synctest.Wait()
			if done != want {
				t.Errorf("after %d steps %d goroutines have continued, want %d", steps, done, want)
			}
			m.Do(func(n *int) { *n++ })
		}
	})
}

func TestTry(t *testing.T) {
	m, want := monitor.New(0), errors.New("no")
	if err := m.Try(func(*int) error { return want }); err != want {
		t.Errorf("the error is %v, want that of the step", err)
	}
}

func TestAPanicEndsTheStep(t *testing.T) {
	m := monitor.New(0)
	func() {
		defer func() { _ = recover() }()
		m.Do(func(*int) { panic("in a step") })
	}()
	m.Do(func(*int) {}) // a deadlock if the value is still locked
}
