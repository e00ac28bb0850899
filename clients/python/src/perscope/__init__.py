"""Client of the Perscope news search API. Start with `Client`, or `AsyncClient` for asyncio."""

from ._async import AsyncClient
from ._contract import Alert, AlertMessage, Article, ArticlesParameters, ArticlesQuery, Author, By, Citation, Copies, Copy, Count, Counts, Coverage, CoverageRow, ErrorObject, ExploreParameters, KeptSearch, Outlet, OutletSet, Page, Parts, Related, Removal, Removals, Then, WhatIsNew, WordCount, Words
from ._errors import (
    ApiError,
    ForeignAnswerError,
    InvalidRequestError,
    KeyRefusedError,
    LockedError,
    NoAnswerError,
    PerscopeError,
    PlanError,
    QuotaError,
    RateLimitError,
    SemanticUnavailableError,
)
from ._frame import to_frame
from ._poll import PollBatch, PollState
from ._requests import Limits, Quota
from ._sync import Client

#: The former name.
ExploreQuery = ArticlesQuery

__all__ = [
    "Alert", "AlertMessage", "ApiError", "Article", "ArticlesParameters", "ArticlesQuery", "AsyncClient", "Author", "By", "Citation", "Client", "Copies", "Copy", "Count",
    "Counts", "Coverage", "CoverageRow", "ErrorObject", "ExploreParameters", "ExploreQuery", "ForeignAnswerError", "InvalidRequestError", "KeptSearch", "KeyRefusedError", "Limits", "LockedError", "NoAnswerError",
    "Outlet", "OutletSet", "Page", "Parts", "PerscopeError", "PlanError", "PollBatch", "PollState", "Quota", "QuotaError", "RateLimitError",
    "Related", "Removal", "Removals", "SemanticUnavailableError", "Then", "WhatIsNew", "WordCount", "Words", "to_frame",
]
