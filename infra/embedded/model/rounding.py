"""How the graph of 8 bits rounds, so that its vectors stay those of the graph of 4 bits.

Each column of weights has one scale, and so has each piece of a text. A few of the 384 numbers of
a piece are far larger than the rest in all layers. With one scale they would leave few bits for
the rest. A large number is therefore replaced by equal parts of it. The same weight multiplies
each part, so the sum of the products stays the same.

Results of GELU are hardly below zero. LIFT is added to them, so that all 8 bits tell sizes. What it
adds to the products is taken off the bias.
"""

import numpy as np

# The large ones, as seen in the layers' results for headlines and texts in five languages.
LARGE = [15, 35, 60, 62, 87, 135, 143, 146, 223, 277, 297, 321, 345, 347, 351, 352]
PARTS = 5
# The first part stays in its place. The others follow after the last number: 64, as many as
# processors multiply at a time.
COPIED = LARGE * (PARTS - 1)
# The greatest number of 7 bits and a sign.
MOST = 127
# GELU is -0.16997 at least.
LIFT = np.float32(0.17)


def shares(width):
    """What each number of a piece is multiplied by before the parts are copied."""
    factors = np.ones(width, np.float32)
    factors[LARGE] = 1 / PARTS
    return factors


def spread(matrix):
    """Weights of numbers and parts, from those of numbers alone. Shape: [rows, columns]."""
    return np.concatenate([matrix, matrix[:, COPIED]], axis=1)


def rounded(matrix):
    """Weights in 8 bits, shape [columns, rows], and the scale of each row of `matrix`."""
    scales = np.abs(matrix).max(axis=1) / MOST
    return np.rint(matrix / scales[:, None]).astype(np.int8).T.copy(), scales.astype(np.float32)


def without_lift(bias, eights, scales):
    """The bias for products of lifted numbers."""
    return bias - LIFT * eights.sum(axis=0, dtype=np.float32) * scales
