"""The client for asyncio; the same as `_client.py` but for its waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx

from ._contract import Article, ArticlesParameters, ArticlesQuery, Page
from ._counts import By, Counts
from ._errors import NoAnswerError, PerscopeError, error_of
from ._poll import Poll, PollBatch, PollState
from ._requests import LONGEST_ANSWER, Answer, Limits, Options, parameters, read_limits, too_long

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient:
    """A client of one API with one key; close it, or use it in an `async with` statement.

    :param url: address of the API, as ``https://news.example``
    :param timeout: seconds that one attempt may take
    :param retries: how often a request is repeated that may do better later
    :param longest_wait: seconds; a longer wait is not begun, the error is raised
    :param on_wait: told before each wait: seconds, and the error that is waited out
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30,
        retries: int = 5,
        longest_wait: float = 120,
        on_wait: Callable[[float, PerscopeError], None] | None = None,
    ) -> None:
        self._options = Options(url, key, timeout, retries, longest_wait, on_wait)
        self._http = httpx.AsyncClient(timeout=timeout)
        #: The counters of the last answer that had some.
        self.limits: Limits | None = None

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def search(self, **query: Unpack[ArticlesParameters]) -> Page:
        """One page; `cursor` is the `next_cursor` of the page before."""
        page: Page = json.loads((await self._ask("/v1/articles", query)).content)
        return page

    async def pages(self, **query: Unpack[ArticlesQuery]) -> AsyncIterator[Page]:
        """All pages of a search, in order, one request each."""
        cursor: str | None = None
        while True:
            page = await self.search(**query, cursor=cursor)
            yield page
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def articles(self, **query: Unpack[ArticlesQuery]) -> AsyncIterator[Article]:
        """The articles of all pages."""
        async for page in self.pages(**query):
            for article in page["articles"]:
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
                batch = poll.take(await self._ask("/v1/articles", asked, etag))
                if batch is not None:
                    yield batch
            if every is None:
                return
            await asyncio.sleep(every)
            poll.begin_round()

    async def counts(self, *, by: By, time_zone: str | None = None, **query: Unpack[ArticlesQuery]) -> Counts:
        """How many articles a search finds, by time or by a property."""
        asked = {**query, "by": by, "time_zone": time_zone}
        counts: Counts = json.loads((await self._ask("/explore/counts", asked)).content)
        return counts

    async def feed(self, **query: Unpack[ArticlesQuery]) -> str:
        """The RSS 2.0 text of a search."""
        return (await self._ask("/v1/articles.rss", query)).content.decode()

    async def _ask(self, path: str, query: Mapping[str, Any], etag: str | None = None) -> Answer:
        attempt = 0
        while True:
            try:
                return await self._once(path, query, etag)
            except PerscopeError as error:
                wait = self._options.wait_after(error, attempt)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def _once(self, path: str, query: Mapping[str, Any], etag: str | None) -> Answer:
        options = self._options
        content = bytearray()

        async def read() -> httpx.Response:
            async with self._http.stream(
                "GET", options.address(path), params=parameters(query), headers=options.headers(etag)
            ) as response:
                async for part in response.aiter_bytes():
                    content.extend(part)
                    if len(content) > LONGEST_ANSWER:
                        raise too_long()
            return response

        try:
            response = await asyncio.wait_for(read(), options.timeout)
        except asyncio.TimeoutError as error:
            raise NoAnswerError(f"{options.url} did not answer within {options.timeout} s.") from error
        except httpx.TransportError as error:
            raise NoAnswerError(f"{options.url} does not answer: {error or type(error).__name__}.") from error
        self.limits = read_limits(response.headers) or self.limits
        if response.status_code in (200, 304):
            return Answer(response.status_code, response.headers.get("etag"), bytes(content))
        raise error_of(response.status_code, response.headers, bytes(content))
