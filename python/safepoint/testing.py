"""For your own tests: sessions in memory, and a disk that forgets what was not synced.

```python
store = safepoint.testing.memory_store()
session = store.create("demo")
session.append("message", {"text": "hello"})
after = safepoint.testing.crash(store, seed=1)      # a power cut; without a seed: kill -9
after.resume("demo")
```

`SimulatedDisk` stands in for `files.Disk`. It counts every step that changes something, can stop at
any of them or let it fail, and gives back, each on a disk of its own, the states that a crash may
leave. Each file is a memfd, so that both engines read it in place. Linux only.
"""

from __future__ import annotations

from ._simulated import FileState, PowerCut, PowerLoss
from ._simulated_disk import SimulatedDisk

__all__ = ["FileState", "PowerCut", "PowerLoss", "SimulatedDisk", "crash", "memory_store"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .store import Store

MEMORY_PATH = "/memory"
"""Where a store on a simulated disk stands, if nobody says otherwise."""


def memory_store(path: str = MEMORY_PATH, **options: Any) -> Store:
    """A Store whose sessions live in memory; `options` are those of `open_store`, and `disk`."""
    from .store import Store

    options.setdefault("disk", SimulatedDisk())
    return Store(path, **options)


def crash(store: Store, *, seed: int | None = None, stale: bytes = b"") -> Store:
    """Another Store of the same kind, holding what a crash at this moment leaves of `store`.

    Without `seed` the process was killed: all that was written is there. With it the power failed,
    and the seed chooses one of the states that may follow. What still writes to `store` gets a
    PowerCut.
    """
    from .store import Store as _Store

    disk = store._disk
    if not isinstance(disk, SimulatedDisk):
        raise TypeError("crash() takes a store of memory_store(): real disks are not crashed")
    after = disk.crash(seed=seed, stale=stale)
    return _Store(store.path, disk=after, segment_bytes=store._segment_bytes)
