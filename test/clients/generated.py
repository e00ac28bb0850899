"""Asks each operation with a client that openapi-python-client has generated; see generated.slow.test.ts."""

import datetime
import os

from generated import AuthenticatedClient
from generated.api.articles import articles_feed, list_articles
from generated.models import Country, Error, Page, SearchIn, SearchMode

client = AuthenticatedClient(base_url=os.environ["PERSCOPE_URL"], token=os.environ["PERSCOPE_KEY"])

# Each mode with nothing but what it needs: the client sends the defaults that the document names.
for mode in (SearchMode.KEYWORD, SearchMode.BOOLEAN):
    page = list_articles.sync(client=client, q="trein", search=mode)
    assert isinstance(page, Page) and page.total_results == 2, page
away = list_articles.sync(client=client, q="trein", search=SearchMode.SEMANTIC)
# No model is configured here: the search is understood, and out of order.
assert isinstance(away, Error) and away.code.value == "semantic_search_unavailable", away

asked = {
    "q": "trein",
    "search_in": SearchIn.TITLE_BODY,
    "country": [Country.NL, Country.BE],
    "published_after": datetime.date(2026, 1, 1),
    "ingested_after": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    "per_page": 2,
}
page = list_articles.sync(client=client, **asked)
assert isinstance(page, Page) and len(page.articles) == 2, page
# One type for a country, in questions and in answers.
assert all(type(article.country) is Country for article in page.articles), page
following = list_articles.sync(client=client, **asked, cursor=page.next_cursor)
assert isinstance(following, Page) and len(following.articles) == 1, following

# The same over a road that adds fields: they are kept beside the others.
added = Page.from_dict({**page.to_dict(), "added": 1})
assert added.additional_properties == {"added": 1}, added

feed = articles_feed.sync(client=client, q="trein", search=SearchMode.KEYWORD)
assert isinstance(feed, str) and feed.count("<item>") == 2, feed
print("held")
