"""What the API takes and returns. Fields may be added within /v1.

The OpenAPI document says the same; `test/clients` compares the two. What it says of a field of
`/v1/articles`, the build writes below it (clients/build.ts).
"""

from datetime import date, datetime
from typing import Any, Dict, List, Literal, Optional, Sequence, TypedDict, Union


Language = Literal["nl", "fr", "de", "lb", "en"]
Country = Literal["NL", "BE", "LU"]
Kind = Literal["news", "opinion", "live", "analysis", "review"]
Access = Literal["free", "paid"]
By = Literal["hour", "day", "week", "month", "outlet", "language", "country", "section", "kind", "access"]
Then = Literal["outlet", "language", "country"]


class Author(TypedDict):
    id: str
    name: str


class Outlet(TypedDict):
    name: Optional[str]
    domain: Optional[str]


class _ErrorObject(TypedDict):
    status: Literal["error"]
    code: Literal["missing_token", "invalid_token", "too_many_failed_attempts", "rate_limit_exceeded", "quota_exceeded", "invalid_request", "country_not_included", "history_not_included", "semantic_search_unavailable", "service_unavailable", "not_found", "method_not_allowed", "internal_error"]
    message: str


class ErrorObject(_ErrorObject, total=False):
    errors: Dict[str, List[str]]


class _Article(TypedDict):
    id: str
    title: str
    url: str
    snippet: Optional[str]
    published_at: Optional[str]
    ingested_at: Optional[str]
    authors: List[Author]
    outlet: Outlet
    language: Language
    country: Country


class Stated(TypedDict, total=False):
    """What an outlet says of an article. Absent: it does not say. Only `/explore/articles` has it."""

    section: str
    kind: Kind
    access: Access


class Article(_Article, Stated, total=False):
    relevance: float


class _Page(TypedDict):
    status: Literal["ok"]
    total_results: int
    next_cursor: Optional[str]
    articles: List[Article]


class Hinted(TypedDict, total=False):
    """What a page of `/explore/articles` alone has."""

    did_you_mean: str


class Page(_Page, Hinted, total=False):
    total_results_is_estimate: Literal[True]


class ArticlesQuery(TypedDict, total=False):
    """A search; the cursor belongs to its pages."""

    q: Optional[str]
    search: Optional[Literal["keyword", "boolean", "semantic", "expression"]]
    search_in: Optional[Literal["title", "title_body"]]
    country: Optional[Union[Country, Sequence[Country]]]
    language: Optional[Union[Language, Sequence[Language]]]
    has_author: Optional[bool]
    outlet: Optional[str]
    author: Optional[str]
    published_after: Optional[Union[str, date, datetime]]
    published_before: Optional[Union[str, date, datetime]]
    ingested_after: Optional[Union[str, date, datetime]]
    sort: Optional[Literal["published_at", "ingested_at", "relevance"]]
    order: Optional[Literal["asc", "desc"]]
    per_page: Optional[int]


class ExploreQuery(ArticlesQuery, total=False):
    """With one of these, or `search="expression"`, the package asks `/explore/articles`."""

    outlets: Optional[Union[str, Sequence[str]]]
    section: Optional[str]
    kind: Optional[Union[Kind, Sequence[Kind]]]
    access: Optional[Access]


class ArticlesParameters(ArticlesQuery, total=False):
    cursor: Optional[str]


class ExploreParameters(ArticlesParameters, ExploreQuery, total=False):
    pass


class _Count(TypedDict):
    key: str
    count: int


# The first and the last moment of a time, for `published_after` and `published_before`.
_Bounds = TypedDict("_Bounds", {"from": str, "to": str}, total=False)


class Count(_Count, _Bounds, total=False):
    outlet: Outlet
    """With `by="outlet"`."""
    parts: "Parts"
    """With `then`: the articles of this bucket by the second property."""


class Parts(TypedDict):
    data: List[Count]
    other: int
    """Articles of keys that are not listed."""


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


class _Meaning(TypedDict):
    found: int
    of: int
    """Articles of the plan's reach: `found` of them have a vector."""
    waiting_from: Optional[str]
    near: Optional[float]
    """Articles of less relevance may be about something else. None: not measured."""


class Meaning(_Meaning, total=False):
    """What a search by meaning can find, and has found."""

    close: Optional[int]
    """Only with `close`: how many are close. None: `near` was not measured."""
    note: str
    """Only with `close`: the same in a sentence."""


class Counts(_Counts, total=False):
    """What `/explore/counts` answers. Fields may be added."""

    then: Then
    texts: Literal[True]
    """Only with `texts`: what is said of articles here, is of texts."""
    time_zone: str
    """Of the buckets; only with counts by time."""
    unsaid: int
    """Only by section, kind and access: articles of which the outlet does not say it."""
    meaning: Meaning
    """Only with `search=semantic`."""


class Copy(TypedDict):
    article: Article
    shared: Optional[float]
    """Part of the shorter text, to four decimals. None: the texts were not compared."""


class Copies(TypedDict):
    """What `/explore/copies` says of one article. Fields may be added."""

    id: str
    first: Optional[str]
    """Of its group the article that was ingested first. None, as below: nothing is said of it."""
    agencies: List[str]
    copies: Optional[List[Copy]]
    own_words: Optional[int]
    """Words in no run of five words that one of `copies` has."""


class Related(TypedDict):
    """An article on the same event, of `/explore/related`. Fields may be added."""

    article: Article
    days: int
    """Whole days after the other one; negative: before it."""


class WordCount(TypedDict):
    """A word, and how many articles have it. Fields may be added."""

    word: str
    count: int


class Words(TypedDict):
    """Words that have a part, of `/explore/words`. Fields may be added."""

    part: str
    total: int
    """The number of all such words; `data` has the 100 with the most articles."""
    data: List[WordCount]


class CoverageQuery(TypedDict, total=False):
    country: Optional[Union[Country, Sequence[Country]]]
    outlet: Optional[str]
    outlets: Optional[Union[str, Sequence[str]]]
    published_after: Optional[Union[str, date, datetime]]
    published_before: Optional[Union[str, date, datetime]]


class _CoverageRow(TypedDict):
    named: int
    """Addresses that the outlets named."""
    indexed: int
    lost: int
    waiting: int
    share: Optional[float]
    """None: nothing says how many there are."""
    gap: bool


class CoverageRow(_CoverageRow, total=False):
    """What is here of a day, or of an outlet. Fields may be added."""

    day: str
    outlet: Outlet


class Coverage(TypedDict):
    """How much is here of what outlets named, of `/explore/coverage`. Fields may be added."""

    by: Literal["day", "outlet"]
    data: List[CoverageRow]


class Removal(TypedDict):
    """An article that was taken out. Fields may be added."""

    number: int
    id: str
    removed_at: str


class Removals(TypedDict):
    """Articles that were taken out, of `/explore/removals`. Fields may be added."""

    data: List[Removal]
    last: int
    """Send it as `after` next time."""
    more: bool
    """There are further removals after `last`."""


class _Kept(TypedDict):
    id: str
    name: str
    search: str
    """A query string."""
    position: int
    """Its place in the list; places may be free."""
    created_at: str


class OutletSet(TypedDict):
    """Outlets with a name, from `/explore/outlet-sets`. Fields may be added."""

    name: str
    domains: List[str]
    outlets: List[Outlet]
    """The same outlets with their names; `None`: unknown, or without a name."""
    unknown: List[str]
    """Domains that no outlet with articles of the plan has."""


class KeptSearch(_Kept, total=False):
    """A search that the key keeps. Fields may be added."""

    feed: Optional[Dict[str, Any]]
    alert: "Optional[Alert]"


class _Alert(TypedDict):
    to: str
    when: str
    time_zone: str
    state: Literal["on", "asked", "rests"]
    """asked: the owner of the mail address has not agreed yet."""
    reason: Optional[str]
    """Why it rests, or what failed last."""
    created_at: str
    delivered_at: Optional[str]


class Alert(_Alert, total=False):
    """Who is told what is new to a kept search."""

    language: Language
    """Of its mails."""
    published_within_days: Optional[int]
    """Only articles that were published so many days before they came, or without a date. None: all."""
    secret: str
    """With which a webhook is signed; in the answer of `set_alert` alone."""


class _AlertMessage(TypedDict):
    id: str
    """Stays the same when the message is sent again."""
    type: Literal["articles", "test", "removed"]
    """removed: articles that the alert told in the last seven days were taken out."""
    search: Dict[str, str]
    articles: List[Article]
    more: int
    """How many articles more there are."""


class AlertMessage(_AlertMessage, total=False):
    """The body of a webhook. Fields may be added."""

    removals: List[Removal]
    """Of the type removed alone. Delete what you keep of them."""


class Citation(TypedDict):
    """A search with its result, at an address for good."""

    address: str
    url: str
    digest: str
    search: str
    count: int
    cited_at: str
    as_of: str
    reach: Dict[str, Any]
    ids_only: bool


class WhatIsNew(TypedDict):
    """How much is new to a kept search."""

    id: str
    new: int
    """Exact up to 999."""
    more: bool
    texts: int
    """How many texts these articles are, as far as copies are known."""
    since: Optional[str]
    """The time of the mark that was sent. None: none was."""
    mark: str
    """Keep it once the articles have been seen."""
