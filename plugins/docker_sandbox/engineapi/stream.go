package engineapi

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Attach connects to the standard streams of a container, running or not. What is written is its input; what is read is its
// output, for [Demultiplex]. The connection outlives ctx.
func (c *Client) Attach(ctx context.Context, id string) (io.ReadWriteCloser, error) {
	answer, err := c.send(ctx, http.MethodPost, "/containers/"+id+"/attach",
		url.Values{"stream": {"1"}, "stdin": {"1"}, "stdout": {"1"}, "stderr": {"1"}}, http.NoBody,
		http.Header{"Connection": {"Upgrade"}, "Upgrade": {"tcp"}})
	if err != nil {
		return nil, err
	}
	// net/http gives the connection away with the bytes that it has already read.
	stream, ok := answer.Body.(io.ReadWriteCloser)
	if !ok {
		answer.Body.Close()
		return nil, fmt.Errorf("the answer is %s, expected 101 and a connection for both directions", answer.Status)
	}
	return stream, nil
}

// Demultiplex copies the output of a container without a terminal until its end. Each piece has a header: its stream, three
// zero bytes, and its size, big-endian.
func Demultiplex(stdout, stderr io.Writer, from io.Reader) error {
	const size = 32 << 10 // engines send no more in one piece
	in, header, buffer := bufio.NewReaderSize(from, size), make([]byte, 8), make([]byte, size)
	for {
		if _, err := io.ReadFull(in, header); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		piece := &io.LimitedReader{R: in, N: int64(binary.BigEndian.Uint32(header[4:]))}
		to := stdout
		switch header[0] {
		case 1:
		case 2:
			to = stderr
		case 3:
			message, err := io.ReadAll(io.LimitReader(piece, maxError))
			return errors.Join(fmt.Errorf("the engine reported: %s", message), err)
		default:
			return fmt.Errorf("the engine sent output of a stream %d, which the API does not have", header[0])
		}
		if _, err := io.CopyBuffer(to, piece, buffer); err != nil {
			return err
		}
		if piece.N > 0 {
			return io.ErrUnexpectedEOF
		}
	}
}
