//! The reading half of safepoint: it finds out what a session log holds, and never changes it.
//!
//! A log is an append-only file of lines, each of them one JSON object. Two kinds are read here:
//! ours, whose records carry a seq and a CRC, and foreign ones, of which only JSON is known.
//!
//! From the bytes upward:
//!
//! * [`source`] reads by position and never maps, because a live log changes under a map;
//! * `lines` frames on byte 0x0A in both directions and holds one chunk, however long a line is;
//! * `quick` knows most well-formed lines: `masks` and `strings` find the tokens of a block, and
//!   the table in `steps` takes them;
//! * `json` is a pushdown automaton over parts of a text. It stops at the very byte that cannot
//!   be, takes what the standard library of Python takes, and `watch` looks at what it passes;
//! * `record` alone knows the layout of a record of ours, `records` parses a buffer of them,
//!   and `exact` says whose data a fast decoder gives as it was written;
//! * `pieces` finds complete objects inside damaged lines, foreign ones by parsing, ours by CRC;
//! * `parallel` cuts a log at line starts for several threads, whose answers are taken in order;
//! * `classify`, `foreign` and `inspect` say what a foreign log holds, `walk`, `run` and `search`
//!   what ours does.
//!
//! Three rules hold everywhere. Content is never an error: damage is a [`Finding`] with a kind, an
//! offset and a length. Memory is bounded by a chunk for each thread and some 5 MB of what threads
//! saw ahead of their turn, and time by a small number of passes, whatever the content. Results do
//! not depend on the size of the chunk, nor on the number of threads.

#![deny(unsafe_code)]
#![warn(clippy::undocumented_unsafe_blocks)]

mod classify;
mod decimal;
mod error;
mod exact;
mod finding;
mod foreign;
mod gaps;
mod inspect;
mod json;
mod lines;
#[allow(unsafe_code, reason = "vector instructions, and the choice of them")]
mod masks;
mod parallel;
mod pieces;
mod plain;
mod quick;
mod record;
mod records;
mod run;
mod search;
pub mod source;
mod steps;
mod strings;
mod text;
mod timestamp;
mod utf8;
mod verdict;
mod walk;
mod watch;

pub use classify::{Object, classify_line};
pub use error::{Error, Result};
pub use exact::is_plain_text;
pub use finding::{FINDINGS_MAX, Finding, Kind};
pub use foreign::{find_object, objects_backward, objects_forward};
pub use inspect::{Inspection, inspect_jsonl};
pub use json::{Automaton, DEPTH_MAX, Fed, INT_DIGITS_MAX};
pub use lines::{LINE_BYTES_MAX, Line, lines_backward, lines_forward};
pub use pieces::PIECE_STARTS_MAX;
pub use record::{
    Members, Record, Sealed, Unsealed, check_seal, member, parse_record, reseal, seal, seal_record,
};
pub use records::{Parsed, parse_records, record_at};
pub use run::{Place, Walked};
pub use search::{SEARCH_BYTES, Wanted, find_record, find_watermark};
pub use source::{CHUNK_BYTES, Scan, Source};
pub use timestamp::timestamp;
pub use verdict::{Judge, Verdict, check_json};
pub use walk::{Rules, walk};
pub use watch::Top;
