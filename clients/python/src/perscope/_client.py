"""The two clients: `Client` waits, `AsyncClient` is for asyncio. All but the waiting is shared."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx

from ._contract import Article, ArticlesParameters, ArticlesQuery, By, Counts, Page
from ._errors import NoAnswerError, PerscopeError, error_of, wait_after
from ._poll import Poll, PollBatch, PollState
from ._requests import Answer, Limits, checked_key, checked_url, parameters, read_limits

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

#: Far more than a page of 100 articles takes.
_LONGEST_ANSWER = 32 * 1024 * 1024


class _Base:
    """A client of one API with one key; close it, or use it in a `with` statement.

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
        if not timeout > 0:
            raise PerscopeError("timeout must be a number of seconds above 0.")
        self._url, self._key = checked_url(url), checked_key(key)
        self._timeout, self._retries, self._longest_wait, self._on_wait = timeout, retries, longest_wait, on_wait
        #: The counters of the last answer that had some.
        self.limits: Limits | None = None

    def _request(self, path: str, query: Mapping[str, Any], etag: str | None) -> dict[str, Any]:
        """The arguments of httpx for a request."""
        headers = {"Authorization": f"Bearer {self._key}", **({} if etag is None else {"If-None-Match": etag})}
        return {"method": "GET", "url": self._url + path, "params": parameters(query), "headers": headers}

    def _add(self, content: bytearray, part: bytes, begun: float) -> None:
        """Takes a part of an answer, within the limits of size and time."""
        content.extend(part)
        if len(content) > _LONGEST_ANSWER:
            raise NoAnswerError(f"The answer is longer than {_LONGEST_ANSWER} bytes; is this the address of the API?")
        if time.monotonic() > begun + self._timeout:
            raise self._no_answer(None)

    def _no_answer(self, error: Exception | None) -> PerscopeError:
        if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
            # It would never succeed. httpx quotes the header, which may be the one with the key.
            return PerscopeError(f"This request cannot be sent to {self._url}: a value holds characters that are not allowed.")
        if error is None or isinstance(error, (httpx.TimeoutException, asyncio.TimeoutError)):
            return NoAnswerError(f"{self._url} did not answer within {self._timeout} s.")
        return NoAnswerError(f"{self._url} does not answer: {error or type(error).__name__}.")

    def _answer(self, response: httpx.Response, content: bytearray) -> Answer:
        self.limits = read_limits(response.headers) or self.limits
        if response.status_code in (200, 304):
            return Answer(response.status_code, response.headers.get("etag"), bytes(content))
        raise error_of(response.status_code, response.headers, bytes(content))

    def _wait_after(self, error: PerscopeError, attempt: int) -> float:
        """Seconds to wait before the next attempt. Raises the error when there is none."""
        wait = wait_after(error, attempt) if attempt < self._retries else None
        if wait is None or wait > self._longest_wait:
            raise error
        if self._on_wait is not None:
            self._on_wait(wait, error)
        return wait


class Client(_Base):
    __doc__ = _Base.__doc__

    @cached_property
    def _http(self) -> httpx.Client:
        return httpx.Client(timeout=self._timeout)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def search(self, **query: Unpack[ArticlesParameters]) -> Page:
        """One page; `cursor` is the `next_cursor` of the page before."""
        page: Page = json.loads(self._ask("/v1/articles", query).content)
        return page

    def pages(self, **query: Unpack[ArticlesQuery]) -> Iterator[Page]:
        """All pages of a search, in order, one request each."""
        cursor: str | None = None
        while True:
            page = self.search(**query, cursor=cursor)
            yield page
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def articles(self, **query: Unpack[ArticlesQuery]) -> Iterator[Article]:
        """The articles of all pages."""
        for page in self.pages(**query):
            for article in page["articles"]:
                yield article

    def poll(
        self,
        *,
        state: PollState | None = None,
        since: str | datetime | None = None,
        every: float | None = None,
        **query: Unpack[ArticlesQuery],
    ) -> Iterator[PollBatch]:
        """Articles as they become visible, each once.

        :param state: what an earlier poll of the same search yielded last
        :param since: where a poll without a state begins; else with all that the plan covers
        :param every: seconds between two rounds; without it there is one round
        """
        poll = Poll(query, state, since)
        while True:
            while not poll.is_over:
                asked, etag = poll.question()
                batch = poll.take(self._ask("/v1/articles", asked, etag))
                if batch is not None:
                    yield batch
            if every is None:
                return
            time.sleep(every)
            poll.begin_round()

    def counts(self, *, by: By, time_zone: str | None = None, **query: Unpack[ArticlesQuery]) -> Counts:
        """How many articles a search finds, by time or by a property."""
        asked = {**query, "by": by, "time_zone": time_zone}
        counts: Counts = json.loads(self._ask("/explore/counts", asked).content)
        return counts

    def feed(self, **query: Unpack[ArticlesQuery]) -> str:
        """The RSS 2.0 text of a search."""
        return self._ask("/v1/articles.rss", query).content.decode()

    def _ask(self, path: str, query: Mapping[str, Any], etag: str | None = None) -> Answer:
        attempt = 0
        while True:
            try:
                return self._once(path, query, etag)
            except PerscopeError as error:
                wait = self._wait_after(error, attempt)
            time.sleep(wait)
            attempt += 1

    def _once(self, path: str, query: Mapping[str, Any], etag: str | None) -> Answer:
        begun, content = time.monotonic(), bytearray()
        try:
            with self._http.stream(**self._request(path, query, etag)) as response:
                for part in response.iter_bytes():
                    self._add(content, part, begun)
        except httpx.TransportError as error:
            raise self._no_answer(error) from None
        return self._answer(response, content)


class AsyncClient(_Base):
    __doc__ = _Base.__doc__

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=self._timeout)

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
                wait = self._wait_after(error, attempt)
            await asyncio.sleep(wait)
            attempt += 1

    async def _once(self, path: str, query: Mapping[str, Any], etag: str | None) -> Answer:
        begun, content = time.monotonic(), bytearray()
        try:
            async with self._http.stream(**self._request(path, query, etag)) as response:
                async for part in response.aiter_bytes():
                    self._add(content, part, begun)
        except httpx.TransportError as error:
            raise self._no_answer(error) from None
        return self._answer(response, content)
