"""What the clients have in common: options, parameters, counters. Nothing here waits or sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ._errors import NoAnswerError, PerscopeError, wait_after

#: Far more than a page of 100 articles takes.
LONGEST_ANSWER = 32 * 1024 * 1024


@dataclass(frozen=True)
class Options:
    url: str
    key: str
    timeout: float
    retries: int
    longest_wait: float
    on_wait: Callable[[float, PerscopeError], None] | None

    def address(self, path: str) -> str:
        return self.url.rstrip("/") + path

    def headers(self, etag: str | None) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {self.key}"}
        return bearer if etag is None else {**bearer, "If-None-Match": etag}

    def wait_after(self, error: PerscopeError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None when there is none."""
        wait = wait_after(error, attempt) if attempt < self.retries else None
        if wait is None or wait > self.longest_wait:
            return None
        if self.on_wait is not None:
            self.on_wait(wait, error)
        return wait


@dataclass(frozen=True)
class Answer:
    """An answer of 200 or, to a request with an ETag, 304."""

    status: int
    etag: str | None
    content: bytes


@dataclass(frozen=True)
class Quota:
    limit: int
    remaining: int
    reset: datetime
    period: str


@dataclass(frozen=True)
class Limits:
    """The counters of the plan, as the last answer had them: of the minute, and of the month."""

    rate_limit: int
    rate_remaining: int
    #: None for a plan without a quota.
    quota: Quota | None


def read_limits(headers: Mapping[str, str]) -> Limits | None:
    """None when the answer has no counters, because no plan is known."""
    if "x-ratelimit-limit" not in headers:
        return None
    quota = None
    if "x-quota-limit" in headers:
        quota = Quota(
            limit=int(headers["x-quota-limit"]),
            remaining=int(headers["x-quota-remaining"]),
            reset=datetime.fromtimestamp(int(headers["x-quota-reset"]), timezone.utc),
            period=headers["x-quota-period"],
        )
    return Limits(int(headers["x-ratelimit-limit"]), int(headers["x-ratelimit-remaining"]), quota)


def parameters(query: Mapping[str, Any]) -> dict[str, str]:
    """The query as it is sent: lists joined by commas, times as ISO 8601, None left out."""
    return {name: _written(value) for name, value in query.items() if value is not None}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(str(one) for one in value)
    return str(value)


def too_long() -> NoAnswerError:
    return NoAnswerError(f"The answer is longer than {LONGEST_ANSWER} bytes; is this the address of the API?")
