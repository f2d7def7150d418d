package llamatest

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The types of values in GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
const (
	ggufInt32   = 5
	ggufUint32  = 4
	ggufFloat32 = 6
	ggufBool    = 7
	ggufString  = 8
	ggufArray   = 9
)

const ggufAlignment = 32

// A ggufWriter writes little-endian values.
type ggufWriter struct {
	bytes.Buffer
	entries uint64
}

func (w *ggufWriter) put(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			w.put(uint64(len(s)))
			w.WriteString(s)
			continue
		}
		_ = binary.Write(w, binary.LittleEndian, v) // writes to memory do not fail
	}
}

// set writes a metadata entry.
func (w *ggufWriter) set(key string, value any) {
	w.entries++
	w.put(key)
	switch v := value.(type) {
	case uint32:
		w.put(uint32(ggufUint32), v)
	case float32:
		w.put(uint32(ggufFloat32), v)
	case bool:
		w.put(uint32(ggufBool), v)
	case string:
		w.put(uint32(ggufString), v)
	case []string:
		w.put(uint32(ggufArray), uint32(ggufString), uint64(len(v)))
		for _, s := range v {
			w.put(s)
		}
	case []int32:
		w.put(uint32(ggufArray), uint32(ggufInt32), uint64(len(v)), v)
	}
}

type tensor struct {
	name string
	dims []int
	data []float32
}

func tensors(v *vocabulary) []tensor {
	w, n := v.width(), len(v.tokens)
	embedding, output := v.matrices()
	ones := slices.Repeat([]float32{1}, w)
	list := []tensor{{"token_embd", []int{w, n}, embedding}, {"output", []int{w, n}, output}, {"output_norm", []int{w}, ones}}
	for _, name := range []string{"attn_norm", "ffn_norm"} {
		list = append(list, tensor{"blk.0." + name, []int{w}, ones})
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		list = append(list, tensor{"blk.0." + name, []int{w, w}, make([]float32, w*w)})
	}
	for _, name := range []string{"ffn_gate", "ffn_up"} {
		list = append(list, tensor{"blk.0." + name, []int{w, 32}, make([]float32, w*32)})
	}
	return append(list, tensor{"blk.0.ffn_down", []int{32, w}, make([]float32, 32*w)})
}

// encode returns a GGUF file with the vocabulary and a table that maps each token to the next one.
func encode(v *vocabulary, stop, begin int) []byte {
	w := v.width()
	kinds := make([]int32, len(v.tokens))
	for t := range kinds {
		if kinds[t] = 1; v.marks[t] {
			kinds[t] = 3 // a control token
		}
	}
	var meta ggufWriter
	meta.set("general.architecture", "llama")
	meta.set("general.name", "scripted")
	for key, n := range map[string]int{"context_length": 8192, "embedding_length": w, "block_count": 1, "feed_forward_length": 32,
		"attention.head_count": w / 32, "attention.head_count_kv": w / 32, "rope.dimension_count": 32, "vocab_size": len(v.tokens)} {
		meta.set("llama."+key, uint32(n))
	}
	meta.set("llama.attention.layer_norm_rms_epsilon", float32(1e-6))
	meta.set("tokenizer.ggml.model", "gpt2")
	meta.set("tokenizer.ggml.pre", "gpt-2")
	meta.set("tokenizer.ggml.tokens", v.tokens)
	meta.set("tokenizer.ggml.token_type", kinds)
	meta.set("tokenizer.ggml.merges", []string{"t h"})
	meta.set("tokenizer.ggml.bos_token_id", uint32(begin))
	meta.set("tokenizer.ggml.eos_token_id", uint32(stop))
	meta.set("tokenizer.ggml.add_bos_token", false)
	meta.set("tokenizer.chat_template", template)

	all := tensors(v)
	var info, data ggufWriter
	for _, t := range all {
		info.put(t.name+".weight", uint32(len(t.dims)))
		for _, d := range t.dims {
			info.put(uint64(d))
		}
		info.put(uint32(0), uint64(data.Len())) // 32-bit floats
		data.put(t.data)
		pad(&data.Buffer)
	}
	var file ggufWriter
	file.WriteString("GGUF")
	file.put(uint32(3), uint64(len(all)), meta.entries)
	file.Write(meta.Bytes())
	file.Write(info.Bytes())
	pad(&file.Buffer)
	file.Write(data.Bytes())
	return file.Bytes()
}

func pad(b *bytes.Buffer) {
	for b.Len()%ggufAlignment != 0 {
		b.WriteByte(0)
	}
}
