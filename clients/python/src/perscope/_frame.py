"""Articles as a table for analysts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._contract import Article

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    column
    for field in Article.__annotations__
    if field != "relevance"
    for column in (["outlet_name", "outlet_domain"] if field == "outlet" else [field])
]


def to_frame(articles: Iterable[Article]) -> pandas.DataFrame:
    """A pandas frame with a row for each article, its id as index.

    Times are UTC; `authors` holds a list of names. `relevance` is a column where an article has
    it. Needs the extra: ``pip install "perscope[pandas]"``.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ImportError("to_frame needs pandas: pip install 'perscope[pandas]'") from None

    rows = [_row(article) for article in articles]
    columns = [*COLUMNS, *(["relevance"] if any("relevance" in row for row in rows) else [])]
    frame = pandas.DataFrame(rows, columns=columns)
    for name in ("published_at", "ingested_at"):
        frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
    # A page of /v1 has none of these, and pandas takes a column without a value for numbers.
    frame = frame.astype({name: frame["url"].dtype for name in ("section", "kind", "access")})
    indexed: pandas.DataFrame = frame.set_index("id")
    return indexed


def _row(article: Article) -> dict[str, object]:
    return {
        **article,
        "authors": [author["name"] for author in article["authors"]],
        "outlet_name": article["outlet"]["name"],
        "outlet_domain": article["outlet"]["domain"],
    }
