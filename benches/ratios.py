"""The table of ratios: `make bench`. benches/README.md says how to read it.

Every row is the median over interleaved rounds, and asserts the answer that it times.
"""

from __future__ import annotations

import argparse
import sys

import rows_scan
from generate import write_session


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    import tempfile

    with tempfile.TemporaryDirectory(prefix="safepoint-bench-") as work:
        own = write_session(f"{work}/store/big", options.mb * 1_000_000)
        print(rows_scan.walk_rows(own, options.rounds))
        print(rows_scan.framing_rows(own, options.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
