# Prints every article once, oldest first, and keeps its place in place.json. Python 3.9, no
# packages.
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request


def ask(query):
    address = os.environ["PERSCOPE_URL"] + "/v1/articles?" + urllib.parse.urlencode(query)
    request = urllib.request.Request(address, headers={"Authorization": "Bearer " + os.environ["PERSCOPE_KEY"]})
    for attempt in range(6):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            body = json.load(error)
            waits = body["code"] == "rate_limit_exceeded" or error.code == 503
            if not waits or attempt == 5:
                raise SystemExit(f"{body['code']}: {body['message']}")
            time.sleep(int(error.headers.get("Retry-After", 5)))


# The first time there is no place: the poll begins with all that the plan covers.
place = {"ids": []}
if os.path.exists("place.json"):
    with open("place.json") as file:
        place = json.load(file)
query = {"sort": "ingested_at", "order": "asc", "per_page": 100}
if "after" in place:
    query["ingested_after"] = place["after"]
while True:
    page = ask(query)
    for article in page["articles"]:
        if article["id"] in place["ids"]:
            continue  # the bound is inclusive: articles of that moment come again
        moment = article["ingested_at"]
        print(moment, article["id"], article["title"], sep="\t")
        known = place["ids"] if place.get("after") == moment else []
        place = {"after": moment, "ids": known + [article["id"]]}
    with open("place.json", "w") as file:
        json.dump(place, file)
    if page["next_cursor"] is None:
        break
    query["cursor"] = page["next_cursor"]
