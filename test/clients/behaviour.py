"""What the Python client does beyond the examples of its README, against a real API."""

import asyncio
import json
import os
import re
import sys
import time

import perscope

URL, KEY = os.environ["PERSCOPE_URL"], os.environ["PERSCOPE_KEY"]
ROAD = os.environ["PERSCOPE_ROAD"]


def raised(error, work):
    try:
        work()
    except error as one:
        return one
    raise AssertionError(f"{error.__name__} was not raised")


def errors():
    with perscope.Client(URL, KEY, retries=0) as client:
        wrong = raised(perscope.InvalidRequestError, lambda: client.search(q="-a", search="boolean", per_page=101))
        assert wrong.status == 422 and set(wrong.errors) == {"q", "per_page"} and wrong.request_id, wrong
        raised(perscope.PlanError, lambda: client.search(country="LU"))
        away = raised(perscope.SemanticUnavailableError, lambda: client.search(q="trein", search="semantic"))
        assert away.retry_after == 30, away
        assert raised(perscope.ApiError, lambda: client.related("a0")).code == "not_found"
        raised(perscope.PerscopeError, lambda: list(client.poll(search="semantic", q="trein")))
    with perscope.Client(URL, "psk_none", retries=5) as client:
        began = time.monotonic()
        for _ in range(3):
            raised(perscope.KeyRefusedError, lambda: client.search())
        raised(perscope.LockedError, lambda: client.search())
        assert time.monotonic() - began < 10, "a 4xx is not repeated"
    with perscope.Client("http://127.0.0.1:9", KEY, retries=1) as client:
        raised(perscope.NoAnswerError, lambda: client.search())


def foreign():
    """Whatever else answers, the error is a PerscopeError with its own sentence."""
    for fate, kind, sentence in json.loads(os.environ["PERSCOPE_FOREIGN"]):
        with perscope.Client(f"{ROAD}/{fate}", KEY, retries=0) as client:
            for work in (client.search, client.feed, lambda: client.counts(by="day"), lambda: next(client.poll())):
                error = raised(getattr(perscope, kind), work)
                assert re.search(sentence, str(error)), (fate, error)


def arguments():
    for url in ("", "news.example", "ftp://news.example", "https://a:b@news.example", "http://x/?q=1", "http://x:port"):
        raised(perscope.PerscopeError, lambda: perscope.Client(url, KEY))
    for key in ("", " ", "psk_se cret", "psk_se\ncret", "psk_secrét"):
        for made in (perscope.Client, perscope.AsyncClient):
            assert "cr" not in str(raised(perscope.PerscopeError, lambda: made(URL, key)))
    raised(perscope.PerscopeError, lambda: perscope.Client(URL, KEY, timeout=0))
    for url in (f"{URL}/", f"{URL}/v1", f" {URL}/v1/\n"):
        with perscope.Client(url, f" {KEY}\n") as client:
            assert client.search()["status"] == "ok"


def pages():
    with perscope.Client(ROAD, KEY) as client:
        articles = list(client.articles(per_page=50))
        assert len({article["id"] for article in articles}) == len(articles) > 130
        for most, pages in ((0, 0), (7, 1), (50, 1), (51, 2)):
            assert len(list(client.articles(per_page=50, max_items=most))) == most
            assert len(list(client.pages(per_page=50, max_items=most))) == pages
        assert articles[0]["added"] == {"later": True}, "an added field is kept"
        assert client.limits is not None and client.limits.rate_limit == 100_000
        frame = perscope.to_frame(articles)
        assert len(frame) == len(articles) and str(frame["published_at"].dtype).endswith("UTC]")
        assert len(perscope.to_frame([])) == 0
        stated = perscope.to_frame([{**articles[0], "kind": "opinion"}])
        assert list(stated["kind"]) == ["opinion"] and stated["access"].isna().all(), "columns of what outlets say"
        pandas, sys.modules["pandas"] = sys.modules["pandas"], None
        assert "pip install" in str(raised(ImportError, lambda: perscope.to_frame([])))
        sys.modules["pandas"] = pandas

    async def walk():
        async with perscope.AsyncClient(ROAD, KEY) as client:
            return [article["id"] async for article in client.articles(per_page=50)]

    assert asyncio.run(walk()) == [article["id"] for article in articles]


def poll():
    """Each article once, over a road that breaks, and with a state that was stored."""
    with perscope.Client(URL, KEY) as client:
        wanted = {article["id"] for article in client.articles(per_page=100)}
    found, stored = [], "null"
    for _ in range(4):
        with perscope.Client(ROAD, KEY) as client:
            for batch in client.poll(state=json.loads(stored)):
                found += [article["id"] for article in batch.articles]
                stored = json.dumps(batch.state)
    assert len(found) == len(set(found)) and set(found) == wanted

    async def follow():
        async with perscope.AsyncClient(ROAD, KEY) as client:
            return [article["id"] async for batch in client.poll() for article in batch.articles]

    assert asyncio.run(follow()) == found


def waits():
    waited = []
    with perscope.Client(ROAD, KEY, on_wait=lambda seconds, error: waited.append(error)) as client:
        client.search()
    assert [type(error) for error in waited] == [perscope.NoAnswerError] * 2, waited
    waited.clear()
    narrow = os.environ["PERSCOPE_NARROW_KEY"]
    with perscope.Client(URL, narrow, on_wait=lambda seconds, error: waited.append((seconds, error))) as client:
        for _ in range(4):
            client.search(per_page=1)
    assert len(waited) == 1 and isinstance(waited[0][1], perscope.RateLimitError), waited
    assert waited[0][0] == waited[0][1].retry_after


{"arguments": arguments, "errors": errors, "foreign": foreign, "pages": pages, "poll": poll, "waits": waits}[sys.argv[1]]()
print("held")
