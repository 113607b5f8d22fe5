//! Backward scans over a log of ours: the newest record of a type, and the watermark.

use std::io;

use crate::classify::Parts;
use crate::error::Result;
use crate::lines::{Backward, LINE_BYTES_MAX, Line};
use crate::record::{self, PREFIX_BYTES_MAX};
use crate::run::Place;
use crate::source::{Scan, Source, Tick};
use crate::text::{Slice, Span, Text};
use crate::walk::proven;

/// Bytes of one read of a search, by default: 64 KiB, a sixth faster than [`CHUNK_BYTES`] where
/// what is looked for lies within the last megabyte, as it mostly does.
///
/// [`CHUNK_BYTES`]: crate::CHUNK_BYTES
pub const SEARCH_BYTES: usize = 64 * 1024;

/// What [`find_record`] looks for.
pub struct Wanted<'a> {
    /// The seed of the segment's CRCs.
    pub seed: u32,
    /// The type; any if empty.
    pub kind: &'a str,
    /// The highest seq.
    pub seq_max: u64,
}

/// Looks at lines newest first until one has an answer.
fn newest<S: Source + ?Sized, A>(
    scan: Scan<'_, S>,
    tick: Option<Tick<'_>>,
    mut in_memory: impl FnMut(Line, &mut Slice<'_>) -> io::Result<Option<A>>,
    mut in_file: impl FnMut(Line, &mut Span<'_, S>) -> io::Result<Option<A>>,
) -> Result<Option<A>> {
    let mut reader = Backward::new(scan, tick);
    while let Some((line, body)) = reader.next()? {
        let answer = match body {
            Some(body) => in_memory(line, &mut Slice(body))?,
            None => {
                let body = scan.range(line.offset, line.body_end());
                in_file(line, &mut Span::new(body))?
            }
        };
        if answer.is_some() {
            return Ok(answer);
        }
    }
    Ok(None)
}

/// Whether a line may be the record wanted, by a look at its front.
fn may_match<T: Text>(text: &mut T, wanted: &Wanted<'_>) -> io::Result<bool> {
    let kind = wanted.kind.as_bytes();
    let head = text.ahead(0, PREFIX_BYTES_MAX)?;
    Ok(kind.is_empty() || record::may_have_kind(head, kind))
}

/// The seq of a line that is exactly the record wanted. The CRC comes last: it alone costs a pass.
fn matching<T: Text>(text: &mut T, wanted: &Wanted<'_>) -> io::Result<Option<u64>> {
    let all = 0..text.len();
    if all.end > LINE_BYTES_MAX || record::sealed_part(text, all.clone())?.is_none() {
        return Ok(None);
    }
    let Some(record) = record::layout(text, all.clone())? else { return Ok(None) };
    let kind_bytes = wanted.kind.len() as u64;
    let is_kind = kind_bytes == 0 || record.kind.end - record.kind.start == kind_bytes;
    if record.seq > wanted.seq_max || !is_kind {
        return Ok(None);
    }
    Ok(record::parse_range(text, all, wanted.seed)?.map(|_| record.seq))
}

/// The newest record of a type.
pub fn find_record<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    wanted: &Wanted<'_>,
    tick: Option<Tick<'_>>,
) -> Result<Option<Place>> {
    let place = |line: Line, seq| Place { seq, offset: line.offset, length: line.length };
    let in_memory = |line: Line, text: &mut Slice<'_>| {
        let seq = if may_match(text, wanted)? { matching(text, wanted)? } else { None };
        Ok(seq.map(|seq| place(line, seq)))
    };
    let in_file = |line: Line, text: &mut Span<'_, S>| {
        let front = scan.range(line.offset, line.body_end());
        let mut front = Span::new(Scan { chunk_bytes: PREFIX_BYTES_MAX, ..front });
        let seq = if may_match(&mut front, wanted)? { matching(text, wanted)? } else { None };
        Ok(seq.map(|seq| place(line, seq)))
    };
    newest(scan, tick, in_memory, in_file)
}

/// The highest `d` of the records that a line holds.
fn watermark<T: Text>(text: &mut T, line: Line, seed: u32) -> io::Result<Option<u64>> {
    let parts = Parts::split(text, line)?;
    let pieces = proven(text, &parts, seed)?;
    let records = pieces.iter().filter_map(|piece| piece.sealed.record());
    Ok(records.map(|record| record.d.min(record.seq)).max())
}

/// The highest `d` in the last line that holds a proven record or piece.
pub fn find_watermark<S: Source + ?Sized>(
    scan: Scan<'_, S>,
    seed: u32,
    tick: Option<Tick<'_>>,
) -> Result<Option<u64>> {
    newest(
        scan,
        tick,
        |line, text| watermark(text, line, seed),
        |line, text| watermark(text, line, seed),
    )
}
