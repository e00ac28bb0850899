"""The polling pattern of the contract, without the requests: the clients send them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, List, Optional, TypedDict
from urllib.parse import urlencode

from ._contract import Article, Page
from ._errors import PerscopeError
from ._requests import Answer, parameters

#: A poll sets these itself.
_OWN = ("ingested_after", "sort", "order", "per_page", "cursor")


class PollState(TypedDict):
    """Where a poller stands: plain JSON, to be stored and handed to the next poll."""

    query: str
    """The search that it belongs to: another one needs another state."""
    ingested_after: Optional[str]
    """Latest `ingested_at` processed; None before the first article."""
    ids: List[str]
    """Articles of that very moment: the bound is inclusive, they come again."""
    etag: Optional[str]
    """Of the answer in which nothing was new; with it the next such answer is an empty 304."""


@dataclass(frozen=True)
class PollBatch:
    articles: list[Article]
    """Articles that no batch before had, oldest first; at times none."""
    state: PollState
    """Store it once the articles are processed."""


class Poll:
    """Asks for everything since a state, to the last page, round after round."""

    def __init__(self, query: Mapping[str, Any], state: PollState | None, since: str | datetime | None) -> None:
        own = sorted(set(query).intersection(_OWN))
        if own:
            raise PerscopeError(f"A poll sets {', '.join(own)} itself; leave it out.")
        if query.get("search") == "semantic":
            raise PerscopeError("Poll with keyword or boolean search: by meaning, articles are found only hours later.")
        self._query = parameters(query)
        name = urlencode(sorted(self._query.items()))
        if state is not None and state["query"] != name:
            raise PerscopeError(f'The state belongs to another search ("{state["query"]}"); begin without a state.')
        begin = parameters({"since": since}).get("since")
        self._state: PollState = state or {"query": name, "ingested_after": begin, "ids": [], "etag": None}
        self.begin_round()

    def begin_round(self) -> None:
        self._bound = self._state["ingested_after"]
        self._cursor: str | None = None
        self._is_first = True
        self.is_over = False

    def question(self) -> tuple[dict[str, Any], str | None]:
        """The next request of the round: its parameters and its ETag."""
        query = {
            **self._query,
            "ingested_after": self._bound,
            "sort": "ingested_at",
            "order": "asc",
            "per_page": 100,
            "cursor": self._cursor,
        }
        return query, self._state["etag"] if self._is_first else None

    def take(self, answer: Answer) -> PollBatch | None:
        """What the answer to that request brought; None when that is nothing."""
        is_first, self._is_first = self._is_first, False
        if answer.status == 304:
            self.is_over = True
            return None
        page: Page = answer.body
        known = set(self._state["ids"])
        articles = [article for article in page["articles"] if article["id"] not in known]
        self._cursor = page["next_cursor"]
        self.is_over = self._cursor is None
        if articles:
            self._state = _after(self._state, articles)
        elif is_first and self.is_over:
            # An ETag speaks of one page: it stands for a whole round only where that has no other page.
            self._state = {**self._state, "etag": answer.etag}
        else:
            return None
        return PollBatch(articles, self._state)


def _after(state: PollState, articles: list[Article]) -> PollState:
    """The state after new articles; those of its latest moment will be met again."""
    latest = articles[-1]["ingested_at"]
    ids = [article["id"] for article in articles if article["ingested_at"] == latest]
    known = state["ids"] if latest == state["ingested_after"] else []
    return {"query": state["query"], "ingested_after": latest, "ids": known + ids, "etag": None}
