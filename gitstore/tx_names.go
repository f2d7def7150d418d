package gitstore

import "context"

// CheckName says whether a new session can have a name: [domarkx.ErrInvalid] for
// its spelling, [domarkx.ErrExists] for a clash with another session.
func (tx *Tx) CheckName(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := tx.readNames(); err != nil {
		return err
	}
	return tx.names.check(name)
}
