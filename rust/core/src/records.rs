//! Records where a reader knows its lines to be: many in a buffer, parsed in one call, or one in a
//! file, however long it is.

use memchr::memchr;

use crate::error::Result;
use crate::record::{Sealed, parse_body, parse_range};
use crate::source::{Scan, Source};
use crate::text::{Span, Text};

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

/// The record that the line which is the range of `scan`, its newline optional, exactly is.
pub fn record_at<S: Source + ?Sized>(scan: Scan<'_, S>, seed: u32) -> Result<Option<Sealed>> {
    let mut line = Span::new(scan);
    let length = line.len();
    let ends = length > 0 && line.ahead(length - 1, 1)?[0] == b'\n';
    Ok(parse_range(&mut line, 0..length - u64::from(ends), seed)?)
}
