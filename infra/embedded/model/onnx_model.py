"""Writes a model in ONNX's format: Protocol Buffers, with the field numbers of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, those that one graph of numbers needs."""

import struct

import numpy as np

FORMAT = 9
# Operators as ONNX's version 18 has them, and beside them onnxruntime's own.
OPERATORS = {"": 18, "com.microsoft": 1}
ELEMENT = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int64): 7}


class OnnxModel:
    """Values are known by their names: of the input, of constants, of what nodes put out."""

    def __init__(self):
        self._nodes = []
        self._constants = []
        self._names = 0

    def constant(self, array):
        """A tensor that belongs to the model; its name."""
        name = self._new_name()
        sizes = [(1, size) for size in array.shape]
        self._constants.append(message(*sizes, (2, ELEMENT[array.dtype]), (8, name), (9, array.tobytes())))
        return name

    def node(self, operator, inputs, domain="", **attributes):
        """An operator at work; the name of what it puts out. An input named "" is left out."""
        name = self._new_name()
        self._nodes.append(
            message(
                *((1, input) for input in inputs),
                (2, name),
                (4, operator),
                *((5, attribute(name, value)) for name, value in attributes.items()),
                (7, domain),
            )
        )
        return name

    def written(self, input, shape, output, output_shape):
        """The whole as bytes, from one input of float32 numbers to one output; a size that varies is a name."""
        graph = message(
            *((1, node) for node in self._nodes),
            (2, "graph"),
            *((5, constant) for constant in self._constants),
            (11, value(input, shape)),
            (12, value(output, output_shape)),
        )
        operators = [message((1, domain), (2, version)) for domain, version in OPERATORS.items()]
        return message((1, FORMAT), (7, graph), *((8, each) for each in operators))

    def _new_name(self):
        self._names += 1
        return "value %d" % self._names


def attribute(name, value):
    field, kind = (2, 1) if isinstance(value, float) else (3, 2)
    return message((1, name), (field, value), (20, kind))


def value(name, shape):
    sizes = [(1, message((2, size) if isinstance(size, str) else (1, size))) for size in shape]
    tensor = message((1, ELEMENT[np.dtype(np.float32)]), (2, message(*sizes)))
    return message((1, name), (2, message((1, tensor))))


def message(*fields):
    """A message of Protocol Buffers from pairs of a field's number and its value.
    https://protobuf.dev/programming-guides/encoding/"""
    return b"".join(part for number, value in fields for part in encoded(number, value))


def encoded(number, value):
    if isinstance(value, int):
        return varint(number << 3), varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5), struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2), varint(len(content)), content


def varint(number):
    """Seven bits a byte, the lowest first. For numbers that are not negative."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)
