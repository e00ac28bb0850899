"""tantivy behind lines of JSON on standard input and output, so that time is taken beside the engine.

    tantivy.py build FOLDER   documents, one a line, and "end" after the last; answers how many there are
    tantivy.py serve FOLDER   a question a line, an answer a line
"""

import json
import sys
import time

import tantivy
from tantivy import FieldType, Index, Occur, Order, Query

WORDS = {"tokenizer_name": "whitespace", "index_option": "position"}
KEYS = {"tokenizer_name": "whitespace", "index_option": "basic"}
# Order of publication (those without a date first, or last), order of ingestion.
ORDERS = ("place", "rise", "turn")
# An interruption loses no more documents than these.
COMMIT_EVERY = 50_000


def schema():
    builder = tantivy.SchemaBuilder()
    for name in ("title", "body"):
        builder.add_text_field(name, **WORDS)
    for name in ("title_keys", "keys", "filters"):
        builder.add_text_field(name, **KEYS)
    for name in ORDERS:
        builder.add_unsigned_field(name, indexed=True, fast=True)
    # The article as it is shown.
    builder.add_bytes_field("row", stored=True)
    return builder.build()


def build(folder):
    form = schema()
    index = Index(form, path=folder)
    writer = index.writer(heap_size=1_000_000_000, num_threads=1)
    index.reload()
    count = index.searcher().num_docs
    print(json.dumps({"documents": count}), flush=True)
    finished = False
    for line in sys.stdin:
        if line == "end\n":
            finished = True
            break
        fields = json.loads(line)
        row = fields.pop("row")
        document = tantivy.Document.from_dict(fields, form)
        document.add_bytes("row", row.encode())
        writer.add_document(document)
        count += 1
        if count % COMMIT_EVERY == 0:
            writer.commit()
    writer.commit()
    # An interruption cannot wait for merges.
    if finished:
        writer.wait_merging_threads()
    print(json.dumps({"documents": count}), flush=True)


def compile(schema, node):
    """A question's expression as tantivy's query: [kind, ...]."""
    kind = node[0]
    if kind == "all":
        return Query.all_query()
    if kind == "term":
        return Query.term_query(schema, node[1], node[2], "basic")
    if kind == "terms":
        terms = [Query.term_query(schema, node[1], term, "basic") for term in node[2]]
        return Query.boolean_query([(Occur.Should, term) for term in terms])
    if kind == "phrase":
        return Query.phrase_query(schema, node[1], node[2])
    if kind == "range":
        return Query.range_query(schema, node[1], FieldType.Unsigned, node[2], node[3], True, False)
    occurs = {"and": Occur.Must, "or": Occur.Should, "not": Occur.MustNot}
    return Query.boolean_query([(occurs[occur], compile(schema, part)) for occur, part in node[1]])


def serve(folder):
    index = Index.open(folder)
    index.reload()
    searcher = index.searcher()
    form = schema()
    print(json.dumps({"documents": searcher.num_docs, "segments": searcher.num_segments}), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        processor = time.process_time()
        start = time.perf_counter()
        found = searcher.search(
            compile(form, question["query"]),
            limit=question["limit"],
            count=question["cap"] is not None,
            order_by_field=question["by"],
            order=Order.Asc if question["ascending"] else Order.Desc,
        )
        places = [value for value, _ in found.hits]
        rows = [bytes(searcher.doc(address)["row"][0]).decode() for _, address in found.hits]
        ms = (time.perf_counter() - start) * 1_000
        processor_ms = (time.process_time() - processor) * 1_000
        answer = {"places": places, "rows": rows, "count": found.count, "ms": ms, "cpuMs": processor_ms}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    {"build": build, "serve": serve}[sys.argv[1]](sys.argv[2])
