//! A buffer of lines parsed in one call: what a reader replays a session from.

use memchr::memchr;

use crate::record::{Sealed, parse_body};

/// One line of a buffer that is a record.
pub struct Parsed {
    /// Where the line begins in the buffer.
    pub start: usize,
    /// Where it ends, its newline included.
    pub stop: usize,
    /// What the line is. Ranges in it are relative to `start`.
    pub sealed: Sealed,
}

/// The records of `lines` from its begin on, up to the first line that is none or has no newline.
pub fn parse_records(lines: &[u8], seed: u32) -> Vec<Parsed> {
    let mut records = Vec::new();
    let mut start = 0;
    while let Some(length) = memchr(b'\n', &lines[start..]) {
        let Some(sealed) = parse_body(&lines[start..start + length], seed) else { break };
        let stop = start + length + 1;
        records.push(Parsed { start, stop, sealed });
        start = stop;
    }
    records
}
