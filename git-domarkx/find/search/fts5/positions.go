package fts5

// Positions are the positions of a word in a row, in their stored form (see postings.lists).
type Positions []byte

// A Position is the number of a column, in the upper 32 bits, and that of a word in the column.
type Position uint64

// Column returns the column of a position.
func (p Position) Column() int { return int(p >> positionBits) }

// MaxColumns is the maximum number of columns of an index.
const MaxColumns = 1 << columnBits

// Weight returns the sum of the weights of the columns of all positions.
func (p Positions) Weight(weights *[MaxColumns]float32) (sum float32) {
	weight := weights[0]
	for i := 0; i < len(p); {
		switch c := p[i]; {
		case c == 1:
			n, size := varint(p[i+1:])
			weight = weights[n%MaxColumns]
			i += 1 + max(size, 1)
			continue
		case c < 1<<7:
			i++
		default:
			_, size := varint(p[i:])
			i += max(size, 1)
		}
		sum += weight
	}
	return sum
}

// Append appends the positions in decoded form to others.
func (p Positions) Append(to []Position) []Position {
	at := Position(0)
	for len(p) > 0 {
		n, size := varint(p)
		if size == 0 {
			return to
		}
		if p = p[size:]; n == 1 {
			n, size = varint(p)
			at, p = Position(n%MaxColumns)<<positionBits, p[size:]
			continue
		}
		at += Position(n-2) & (1<<positionBits - 1)
		to = append(to, at)
	}
	return to
}
