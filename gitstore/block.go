package gitstore

import "maps"

// Block makes every lookup and change of these sessions by their names fail with the given errors,
// for example because a mount holds saves that are not snapshots yet. Listings and reads by id
// still work. Block must not run at the same time as other methods.
func (s *Store) Block(sessions map[string]error) { s.blocked = maps.Clone(sessions) }
