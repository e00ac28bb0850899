"""What the two clients share: all but the waiting."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from ._errors import ForeignAnswerError, NoAnswerError, PerscopeError, error_of, wait_after
from ._requests import Answer, Limits, checked_key, checked_url, parameters, read_limits

#: Far more than a page of 100 articles takes.
_LONGEST_ANSWER = 32 * 1024 * 1024


def checked_count(count: int | None) -> float:
    """Articles after which an iteration ends."""
    if count is not None and not count >= 0:
        raise PerscopeError("max_items must be a number of articles.")
    return float("inf") if count is None else count


class Base:
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

    def _request(
        self, path: str, query: Mapping[str, Any], etag: str | None, sent: tuple[str, Any] | None
    ) -> dict[str, Any]:
        """The arguments of httpx for a request."""
        headers = {"Authorization": f"Bearer {self._key}", **({} if etag is None else {"If-None-Match": etag})}
        method, content = sent or ("GET", None)
        body = {} if content is None else {"json": content}
        return {"method": method, "url": self._url + path, "params": parameters(query), "headers": headers, **body}

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
        if isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError)):
            return NoAnswerError(f"The answer of {self._url} broke off.")
        return NoAnswerError(f"{self._url} does not answer: {error or type(error).__name__}.")

    def _answer(self, response: httpx.Response, content: bytearray) -> Answer:
        status, headers = response.status_code, response.headers
        if 300 <= status < 400 and status != 304:
            to = response.next_request.url if response.next_request else None
            where = f"{to.scheme}://{to.netloc.decode()}" if to else "another address"
            raise ForeignAnswerError(f"{self._url} redirects to {where}; write the address of the API itself as url.")
        self.limits = read_limits(headers) or self.limits
        if status == 304 or response.is_success:
            is_empty = status == 304 or (status == 204 and response.request.method != "GET")
            return Answer(status, headers.get("etag"), None if is_empty else self._body(response, bytes(content)))
        raise error_of(status, headers, bytes(content))

    def _body(self, response: httpx.Response, content: bytes) -> Any:
        """The text of a feed, the object of any other answer."""
        kind = response.headers.get("content-type", "no content type").split(";")[0].lower()
        broken = NoAnswerError(f"The answer of {self._url} broke off.")
        if kind == "application/rss+xml":
            if content.rstrip().endswith(b"</rss>"):
                return content.decode(errors="replace")
            raise broken
        try:
            body = json.loads(content)
        except ValueError:
            if kind == "application/json":
                raise broken from None
            body = None
        if isinstance(body, dict) and body.get("status") == "ok":
            return body
        raise ForeignAnswerError(
            f"{self._url} answers {response.status_code} with {kind} that is no answer of the API;"
            " is a proxy or a login page before it?"
        )

    def _wait_after(self, error: PerscopeError, attempt: int, is_change: bool) -> float:
        """Seconds to wait before the next attempt. Raises the error when there is none.

        A change is repeated only where it was refused for now.
        """
        may_repeat = attempt < self._retries and (not is_change or getattr(error, "status", None) == 429)
        wait = wait_after(error, attempt) if may_repeat else None
        if wait is None or wait > self._longest_wait:
            raise error
        if self._on_wait is not None:
            self._on_wait(wait, error)
        return wait
