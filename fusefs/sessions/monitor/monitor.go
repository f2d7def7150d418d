// Package monitor guards a value that several goroutines change in steps.
//
// Nothing outside of this package can lock or unlock the value. So a step is whole: a
// function that it calls cannot release the value in between, and a step that has ended
// holds nothing.
package monitor

import "sync"

// A Monitor guards a value. A step must not keep the pointer that it gets, and must not
// start another step.
type Monitor[T any] struct {
	mu      sync.Mutex
	changed sync.Cond // after each step
	value   T
}

// New returns a monitor of a value.
func New[T any](value T) *Monitor[T] {
	m := &Monitor[T]{value: value}
	m.changed.L = &m.mu
	return m
}

// Do does a step while no other one runs.
func (m *Monitor[T]) Do(step func(*T)) {
	m.When(func(*T) bool { return true }, step)
}

// Try is [Monitor.Do] for a step that can fail.
func (m *Monitor[T]) Try(step func(*T) error) (err error) {
	m.Do(func(value *T) { err = step(value) })
	return err
}

// When does a step as soon as ready reports true. It asks again after every other step.
func (m *Monitor[T]) When(ready func(*T) bool, step func(*T)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for !ready(&m.value) {
		m.changed.Wait()
	}
	defer m.changed.Broadcast()
	step(&m.value)
}
