"""Counting, which lies beside the contract."""

from __future__ import annotations

from typing import List, Literal, TypedDict

from ._contract import Outlet

By = Literal["hour", "day", "week", "month", "outlet", "language", "country"]


class _Count(TypedDict):
    key: str
    count: int


# The first and the last moment of a time, for `published_after` and `published_before`.
_Bounds = TypedDict("_Bounds", {"from": str, "to": str}, total=False)


class Count(_Count, _Bounds, total=False):
    outlet: Outlet
    """With `by="outlet"`."""


class _Counts(TypedDict):
    status: Literal["ok"]
    by: By
    total: int
    """Articles that the search finds, exact."""
    data: List[Count]
    other: int
    """Articles of keys that are not listed."""
    undated: int
    """Articles without a time of publication."""


class Counts(_Counts, total=False):
    """What `/explore/counts` answers. Fields may be added."""

    time_zone: str
    """Of the buckets; only with counts by time."""
