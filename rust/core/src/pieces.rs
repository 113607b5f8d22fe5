//! Pieces: complete objects inside a damaged line.
//!
//! In foreign logs [`each_piece`] proves them by parsing, in ours [`proven_pieces`] by the CRC.
//! An object nested in the stub of a larger one is never taken for a record.

use std::io;
use std::ops::Range;

use memchr::memmem::Finder;

use crate::json::{Automaton, Fed, Watch, is_space};
use crate::record::{self, Record, SUFFIX_BYTES};
use crate::text::{Text, find_byte, find_word, for_each, position, rfind_byte};
use crate::watch::Top;

/// Places of a damaged line of ours from which a record is looked for: 64, each of which may cost
/// one pass over the line.
pub const PIECE_STARTS_MAX: usize = 64;

/// How an attempt to parse one object ended.
enum Attempt {
    /// It is complete; the position is behind it.
    Complete(u64),
    /// No well-formed text has the byte at this position.
    Stopped(u64),
    /// The range ended first.
    Unclosed,
}

/// Parses strictly from a `{`.
fn attempt<T: Text, W: Watch>(
    text: &mut T,
    range: Range<u64>,
    watch: &mut W,
) -> io::Result<Attempt> {
    let mut json = Automaton::default();
    let mut outcome = Attempt::Unclosed;
    for_each(text, range, |at, part| {
        outcome = match json.feed(part, watch) {
            Fed::All => return true,
            Fed::Closed(end) => Attempt::Complete(at + end as u64),
            Fed::Stopped(stop) => Attempt::Stopped(at + stop as u64),
        };
        false
    })?;
    Ok(outcome)
}

/// Gives the complete objects in a range by the piece rule, and what was watched in each.
///
/// An attempt that stops goes on at the last `{` up to the byte that stopped it, or behind that
/// byte where the attempt began there; each byte is parsed at most twice.
pub(crate) fn each_piece<T: Text, W: Watch>(
    text: &mut T,
    range: Range<u64>,
    watch: impl Fn() -> W,
    mut give: impl FnMut(Range<u64>, &Top, &W),
) -> io::Result<()> {
    let mut broken = false;
    let mut behind = range.start;
    let mut next = find_byte(text, range.clone(), b'{')?;
    while let Some(start) = next {
        let mut seen = (Top::default(), watch());
        match attempt(text, start..range.end, &mut seen)? {
            Attempt::Unclosed => break,
            Attempt::Stopped(stop) => {
                broken = true;
                let inner = rfind_byte(text, start + 1..stop + 1, b'{')?;
                next = match inner {
                    Some(_) => inner,
                    None => find_byte(text, stop + 1..range.end, b'{')?,
                };
            }
            Attempt::Complete(end) => {
                broken = broken || position(text, behind..start, |byte| !is_space(byte))?.is_some();
                if !broken || seen.0.is_typed() {
                    give(start..end, &seen.0, &seen.1);
                    broken = false;
                }
                behind = end;
                next = find_byte(text, end..range.end, b'{')?;
            }
        }
    }
    Ok(())
}

/// The records that a CRC proves in a range, in order: each from a place where a record may begin
/// to the first suffix that holds.
pub(crate) fn proven_pieces<T: Text>(
    text: &mut T,
    range: Range<u64>,
    seed: u32,
) -> io::Result<Vec<(Range<u64>, Record)>> {
    let starts = Finder::new(record::STARTS);
    let mut pieces = Vec::new();
    let mut from = range.start;
    for _ in 0..PIECE_STARTS_MAX {
        let Some(start) = find_word(text, from..range.end, &starts)? else { break };
        from = start + 1;
        let Some(end) = first_seal(text, start..range.end, seed)? else { continue };
        if let Some(record) = record::layout(text, start..end)? {
            pieces.push((start..end, record));
            from = end;
        }
    }
    Ok(pieces)
}

/// The end of the first suffix in a range whose CRC holds over the bytes before it.
fn first_seal<T: Text>(text: &mut T, range: Range<u64>, seed: u32) -> io::Result<Option<u64>> {
    let suffixes = Finder::new(record::SUFFIX_STARTS);
    let mut crc = record::hasher(seed);
    let mut summed = range.start;
    let mut from = range.start + record::STARTS.len() as u64;
    while let Some(at) = find_word(text, from..range.end, &suffixes)? {
        for_each(text, summed..at, |_, part| {
            crc.update(part);
            true
        })?;
        summed = at;
        from = at + 1;
        let end = at + SUFFIX_BYTES as u64;
        if end > range.end {
            break;
        }
        let suffix = &text.ahead(at, SUFFIX_BYTES)?[..SUFFIX_BYTES];
        if record::suffix_crc(suffix).is_some_and(|sum| record::closed(crc.clone()) == sum) {
            return Ok(Some(end));
        }
    }
    Ok(None)
}
