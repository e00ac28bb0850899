"""What goes over the wire: addresses, parameters, counters. Nothing here waits or sends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

import httpx

from ._errors import PerscopeError


SEARCHES = "/explore/searches"
SETS = "/explore/outlet-sets"


def set_path(name: str) -> str:
    """The path of a set of outlets."""
    return f"{SETS}/{quote(name, safe='')}"


def search_path(id: str) -> str:
    """The path of a kept search."""
    return f"{SEARCHES}/{quote(id, safe='')}"


def checked_url(url: str) -> str:
    """The address without white space, a last slash and `/v1`, which the client adds itself."""
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, AttributeError, TypeError):
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo or parsed.query or parsed.fragment:
        raise PerscopeError("url must be the address of the API, such as https://news.example.")
    return re.sub(r"/+(v1/*)?$", "", str(parsed))


def checked_key(key: str) -> str:
    """The key without white space around it. No message shows it."""
    stripped = key.strip() if isinstance(key, str) else ""
    if not re.fullmatch(r"[\x21-\x7e]+", stripped):
        raise PerscopeError("key must be an API key: one word of printable ASCII characters, such as psk_….")
    return stripped


def articles_path(query: Mapping[str, Any]) -> str:
    """What the contract does not take is asked for beside it."""
    beside = query.get("search") == "expression" or any(query.get(name) for name in ("outlets", "section", "kind", "access"))
    return "/explore/articles" if beside else "/v1/articles"


@dataclass(frozen=True)
class Answer:
    """An answer of 200 or, to a request with an ETag, 304."""

    status: int
    etag: str | None
    #: The text of a feed, the object of any other answer; None with 304.
    body: Any


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
    """None when the answer has no counters of ours, because no plan is known."""
    if not headers.get("x-ratelimit-limit", "").isdecimal():
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
