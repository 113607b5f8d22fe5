//! What the tests share: scans of byte slices, chunk sizes, logs to damage, naive twins.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod naive;

use proptest::prelude::*;
use safepoint_core::{CHUNK_BYTES, Members, Scan, seal, seal_record};

/// Sizes at which every boundary falls somewhere bad, and the default.
pub const CHUNKS: [usize; 5] = [1, 2, 3, 7, CHUNK_BYTES];

/// The seeds of two segments.
pub const SEEDS: [u32; 2] = [0x1234_5678, 99];

/// A scan of all bytes.
pub fn scan(bytes: &[u8], chunk_bytes: usize) -> Scan<'_, [u8]> {
    Scan::new(bytes, 0, bytes.len() as u64, chunk_bytes).expect("good arguments")
}

/// What JSON lines, damaged or not, are made of.
const TOKENS: [&[u8]; 44] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\0",
    b"\0\0\0",
    b"null",
    b"tru",
    b"true",
    b"NaN",
    b"-Infinity",
    b"-",
    b"0",
    b"12",
    b"1.5",
    b"1e",
    b"e+3",
    b"\"a\"",
    b"\"type\"",
    b"\"type\":\"x\"",
    b"\"seq\":",
    b"\"seq\":5",
    b"\\u0073",
    b"\\ud83d\\ude00",
    b"\\",
    b"\\n",
    b"\xC3\xA9",
    b"\xE2\x82",
    b"\xED\xA0\x80",
    b"\xFF",
    b"\xF0\x9F\x98\x80",
    b"{\"a\":1}",
    b"{\"a\":{\"b\":\"w\"}}",
    b"{\"type\":\"t\",\"seq\":3}",
    b"\xEF\xBB\xBF",
    b",\"crc\":\"00000000\"}",
    b"long enough to fill more than one word of the fast path",
];

/// Bytes that are nearly JSON.
pub fn soup(tokens_max: usize) -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(&TOKENS[..]);
    prop::collection::vec(token, 0..tokens_max).prop_map(|tokens| tokens.concat())
}

/// One record of a segment.
pub fn record(seed: u32, seq: u64, more: i64) -> Vec<u8> {
    let seq = i64::try_from(seq).expect("a small seq");
    let members = Members {
        seq,
        ts: b"2026-12-01T04:48:28.123456Z",
        kind: if seq % 3 == 2 { "checkpoint" } else { "note" },
        key: (seq % 4 == 1).then_some(b"\"k\\\"1\""),
        data: b"{\"text\":\"some words\",\"more\":1}",
        more,
        d: seq / 2,
    };
    seal_record(&members, seed)
}

/// A step in the life of a log.
#[derive(Clone, Debug)]
enum Step {
    /// The next record.
    Record,
    /// A batch of two.
    Batch,
    /// A jump of the seq, back or ahead.
    Jump(i64),
    /// A record of another segment.
    Stale,
    /// A sealed line that is no record.
    Sealed,
    /// Anything.
    Soup(Vec<u8>),
    /// The last line loses its end, so the next one is glued to it.
    Cut(usize),
}

/// One step; plain records are the most likely.
fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Record),
        2 => Just(Step::Batch),
        1 => (-3..4_i64).prop_map(Step::Jump),
        1 => Just(Step::Stale),
        1 => Just(Step::Sealed),
        2 => soup(6).prop_map(Step::Soup),
        2 => (0..150_usize).prop_map(Step::Cut),
    ]
}

/// A log of ours that starts with seq 0, and what may have happened to it.
pub fn log() -> impl Strategy<Value = Vec<u8>> {
    let steps = prop::collection::vec(step(), 0..14);
    steps.prop_map(|steps| {
        let (mut log, mut seq) = (Vec::new(), 0_u64);
        for step in steps {
            let advance = u64::from(matches!(step, Step::Record | Step::Batch));
            match step {
                Step::Record => log.extend(record(SEEDS[0], seq, -1)),
                Step::Batch => {
                    log.extend(record(SEEDS[0], seq, 1));
                    seq += 1;
                    log.extend(record(SEEDS[0], seq, 0));
                }
                Step::Jump(by) => seq = seq.saturating_add_signed(by),
                Step::Stale => log.extend(record(SEEDS[1], seq, -1)),
                Step::Sealed => log.extend(seal(b"{\"x\":1", SEEDS[0])),
                Step::Soup(bytes) => log.extend(bytes),
                Step::Cut(count) => log.truncate(log.len().saturating_sub(count)),
            }
            seq += advance;
        }
        log
    })
}
