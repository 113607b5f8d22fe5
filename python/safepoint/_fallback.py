"""The reference twin of `_native`: the same names, signatures and results, standard library only.

No logic stands here. `_fallback_lines` reads and frames, `_fallback_json` judges JSON and finds
pieces, `_fallback_record` alone knows a record's layout, `_fallback_value` looks at a value of
Python, `_fallback_report` collects findings and gaps, `_fallback_foreign` and `_fallback_walk` put
these together for foreign logs and for ours.
"""

from ._fallback_foreign import (
    classify_line,
    find_object,
    inspect_jsonl,
    objects_backward,
    objects_forward,
)
from ._fallback_json import DEPTH_MAX, INT_DIGITS_MAX, check_json
from ._fallback_lines import CHUNK_BYTES, LINE_BYTES_MAX, lines_backward, lines_forward
from ._fallback_record import (
    PIECE_STARTS_MAX,
    check_seal,
    format_timestamp,
    is_plain_text,
    parse_record,
    parse_records,
    reseal,
    seal,
    seal_event,
    seal_record,
)
from ._fallback_report import FINDINGS_MAX
from ._fallback_value import is_plain_value
from ._fallback_walk import find_record, find_watermark, record_at, walk

__all__ = [
    "CHUNK_BYTES",
    "DEPTH_MAX",
    "FINDINGS_MAX",
    "INT_DIGITS_MAX",
    "LINE_BYTES_MAX",
    "PIECE_STARTS_MAX",
    "check_json",
    "check_seal",
    "classify_line",
    "find_object",
    "find_record",
    "find_watermark",
    "format_timestamp",
    "inspect_jsonl",
    "is_plain_text",
    "is_plain_value",
    "lines_backward",
    "lines_forward",
    "objects_backward",
    "objects_forward",
    "parse_record",
    "parse_records",
    "record_at",
    "reseal",
    "seal",
    "seal_event",
    "seal_record",
    "walk",
]
