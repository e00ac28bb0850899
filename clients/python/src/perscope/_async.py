"""The client for asyncio. The build makes `_sync.py` of it, the client that waits (clients/build.ts)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import httpx

from ._base import Base, checked_count
from ._contract import Alert, Article, ArticlesQuery, By, Citation, Copies, Counts, Coverage, CoverageFilters, ExploreParameters, KeptSearch, Language, OutletSet, Page, Related, Removals, Then, WhatIsNew, Words
from ._errors import PerscopeError
from ._poll import Poll, PollBatch, PollState
from ._requests import SEARCHES, SETS, Answer, articles_path, search_path, set_path

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient(Base):
    __doc__ = Base.__doc__

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=self._timeout)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def search(self, **query: Unpack[ExploreParameters]) -> Page:
        """One page; `cursor` is the `next_cursor` of the page before."""
        return await self._get(articles_path(query), query)

    async def pages(self, *, max_items: int | None = None, **query: Unpack[ArticlesQuery]) -> AsyncIterator[Page]:
        """All pages of a search, in order, one request each; none further after so many articles."""
        left, cursor = checked_count(max_items), None
        while left > 0:
            page: Page = await self.search(**query, cursor=cursor)
            yield page
            left, cursor = left - len(page["articles"]), page["next_cursor"]
            if cursor is None:
                return

    async def articles(self, *, max_items: int | None = None, **query: Unpack[ArticlesQuery]) -> AsyncIterator[Article]:
        """The articles of all pages, at most so many."""
        left = checked_count(max_items)
        async for page in self.pages(max_items=max_items, **query):
            for article in page["articles"]:
                if left <= 0:
                    return
                left -= 1
                yield article

    async def poll(
        self,
        *,
        state: PollState | None = None,
        since: str | datetime | None = None,
        every: float | None = None,
        **query: Unpack[ArticlesQuery],
    ) -> AsyncIterator[PollBatch]:
        """Articles as they become visible, each once.

        :param state: what an earlier poll of the same search yielded last
        :param since: where a poll without a state begins; else with all that the plan covers
        :param every: seconds between two rounds; without it there is one round
        """
        poll = Poll(query, state, since)
        while True:
            while not poll.is_over:
                asked, etag = poll.question()
                batch = poll.take(await self._ask(articles_path(query), asked, etag))
                if batch is not None:
                    yield batch
            if every is None:
                return
            await asyncio.sleep(every)
            poll.begin_round()

    async def counts(
        self,
        *,
        by: By,
        then: Then | None = None,
        texts: bool | None = None,
        close: bool | None = None,
        time_zone: str | None = None,
        **query: Unpack[ArticlesQuery],
    ) -> Counts:
        """
        How many articles a search finds, by time or by a property; each bucket again by `then`. With
        `texts` each text counts once: of copies the one that was ingested first, of those found.
        With `close` a search by meaning counts what is close in meaning; all where nothing is.
        """
        asked = {**query, "by": by, "then": then, "texts": texts, "close": close, "time_zone": time_zone}
        return await self._get("/explore/counts", asked)

    async def copies(self, *, id: str | None = None, **query: Unpack[ExploreParameters]) -> list[Copies]:
        """Which other articles have the text of those of a page, or of the article with this id."""
        return (await self._get("/explore/copies", {**query, "id": id}))["data"]

    async def related(self, id: str) -> list[Related] | None:
        """The articles on the same event as one, other languages first; None: it has no vector yet."""
        return (await self._get("/explore/related", {"id": id}))["data"]

    async def words(self, part: str, **query: Unpack[ArticlesQuery]) -> Words:
        """The words for which a part of words, as `trein*`, stands in an expression."""
        return await self._get("/explore/words", {**query, "part": part})

    async def coverage(self, *, by: Literal["day", "outlet"] = "day", **query: Unpack[CoverageFilters]) -> Coverage:
        """How much is here of what outlets named, by day or by outlet."""
        return await self._get("/explore/coverage", {**query, "by": by})

    async def removals(self, after: int = 0) -> Removals:
        """Articles that were taken out after the removal `after`. Delete what you keep of them."""
        return await self._get("/explore/removals", {"after": after})

    async def searches(self) -> list[KeptSearch]:
        """The searches that the key keeps, in their order."""
        return (await self._get(SEARCHES, {}))["data"]

    async def keep_search(self, search: str, *, name: str | None = None) -> KeptSearch:
        """Keeps a search, a query string."""
        content = {"search": search} if name is None else {"search": search, "name": name}
        return (await self._send("POST", SEARCHES, content))["data"]

    async def change_search(self, id: str, **change: str | int) -> KeptSearch:
        """Changes `name`, `search` or `position` of a kept search; its feed keeps its address."""
        return (await self._send("PATCH", search_path(id), change))["data"]

    async def outlet_sets(self) -> list[OutletSet]:
        """The sets of outlets of the key. `outlets` takes their names in place of domains."""
        return (await self._get(SETS, {}))["data"]

    async def put_outlet_set(self, name: str, domains: Sequence[str]) -> OutletSet:
        """Names some outlets, or changes the outlets of a name."""
        content = {"domains": list(domains)}
        return (await self._send("PUT", set_path(name), content))["data"]

    async def rename_outlet_set(self, name: str, to: str) -> OutletSet:
        """Gives a set another name, also in the kept searches that name it."""
        return (await self._send("PUT", set_path(name), {"name": to}))["data"]

    async def remove_outlet_set(self, name: str) -> None:
        await self._send("DELETE", set_path(name))

    async def remove_search(self, id: str) -> None:
        await self._send("DELETE", search_path(id))

    async def give_feed(self, id: str) -> dict[str, Any]:
        """The feed of a kept search with its addresses, `url` and `urls`: secrets."""
        return (await self._send("PUT", f"{search_path(id)}/feed"))["data"]

    async def end_feed(self, id: str) -> None:
        await self._send("DELETE", f"{search_path(id)}/feed")

    async def set_alert(self, id: str, *, to: str, when: str, time_zone: str = "UTC", language: Language = "en", published_within_days: int | None = None) -> Alert:
        """Has somebody told what is new to a kept search: `at once`, at a local time as `08:00`, or weekly as `monday 08:00`."""
        terms = {"to": to, "when": when, "time_zone": time_zone, "language": language}
        if published_within_days is not None:
            terms["published_within_days"] = published_within_days
        return (await self._send("PUT", f"{search_path(id)}/alert", terms))["data"]

    async def end_alert(self, id: str) -> None:
        await self._send("DELETE", f"{search_path(id)}/alert")

    async def cite(self, search: str) -> Citation:
        """Gives a search an address that always shows the same articles."""
        return await self._send("POST", "/explore/citations", {"search": search})

    async def what_is_new(self, marks: Mapping[str, str | None]) -> list[WhatIsNew]:
        """What is new to searches since the mark of each; None: it begins now."""
        return (await self._send("POST", f"{SEARCHES}/new", {"marks": dict(marks)}))["data"]

    async def feed(self, **query: Unpack[ArticlesQuery]) -> str:
        """The RSS 2.0 text of a search."""
        return await self._get(f"{articles_path(query)}.rss", query)

    async def _send(self, method: str, path: str, content: Any = None) -> Any:
        """The body of the answer to a change."""
        return (await self._ask(path, {}, sent=(method, content))).body

    async def _get(self, path: str, query: Mapping[str, Any]) -> Any:
        """The body of an answer."""
        return (await self._ask(path, query)).body

    async def _ask(
        self, path: str, query: Mapping[str, Any], etag: str | None = None, sent: tuple[str, Any] | None = None
    ) -> Answer:
        attempt = 0
        while True:
            try:
                return await self._once(path, query, etag, sent)
            except PerscopeError as error:
                wait = self._wait_after(error, attempt, is_change=sent is not None)
            await asyncio.sleep(wait)
            attempt += 1

    async def _once(
        self, path: str, query: Mapping[str, Any], etag: str | None, sent: tuple[str, Any] | None
    ) -> Answer:
        begun, content = time.monotonic(), bytearray()
        try:
            async with self._http.stream(**self._request(path, query, etag, sent)) as response:
                async for part in response.aiter_bytes():
                    self._add(content, part, begun)
        except httpx.RequestError as error:
            raise self._no_answer(error) from None
        return self._answer(response, content)
