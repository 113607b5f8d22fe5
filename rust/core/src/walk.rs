//! The walk over a segment of ours: each line is proven by its CRC, or damage.
//!
//! A record of any length is summed while it streams by. What is damaged is looked at again.

use std::io;
use std::mem::take;

use crc32fast::Hasher;

use crate::classify::{Parts, kind_of};
use crate::error::Result;
use crate::finding::{Finding, Kind};
use crate::lines::{Forward, Framed, LINE_BYTES_MAX, Line};
use crate::parallel::in_order;
use crate::pieces::proven_pieces;
use crate::quick::Quick;
use crate::record::{self, SUFFIX_BYTES, Sealed};
use crate::run::{Entry, Run, Step, Walked};
use crate::source::{Scan, Source, Tick};
use crate::text::{Slice, Span, Text};
use crate::verdict::{Judge, Verdict, check_quickly, judge_range};

/// Window for a look at the members of a long record: 4 KiB, one page, which holds all of them
/// but a long key.
const MEMBERS_BYTES: usize = 4096;

/// What a walk goes by.
pub struct Rules<'a> {
    /// The seed of the segment's CRCs.
    pub seed: u32,
    /// The seq expected first.
    pub seq: u64,
    /// Whether the range ends where the log does, so that a newline may lack.
    pub is_final: bool,
    /// Whether to look for data that cannot be decoded.
    pub check_data: bool,
    /// The seeds of the session's other segments.
    pub other_seeds: &'a [u32],
}

/// Validates the records of a range that starts at a line start, by up to `threads` threads.
pub fn walk<S: Source + Sync + ?Sized>(
    scan: Scan<'_, S>,
    rules: &Rules<'_>,
    threads: usize,
    tick: Option<Tick<'_>>,
) -> Result<Walked> {
    let mut run = Run::new(scan.start, rules.seq);
    let look = |buf: &mut Vec<u8>, scan: Scan<'_, S>, tick: Option<Tick<'_>>, give: Give<'_>| {
        each_step(buf, scan, rules, tick, give)
    };
    in_order(scan, threads, tick, &look, &mut |step| run.take(step))?;
    Ok(run.finish())
}

/// Takes what a line brings.
type Give<'g> = &'g mut dyn FnMut(Step);

/// Gives what the lines of a range bring, in order.
fn each_step<S: Source + ?Sized>(
    buf: &mut Vec<u8>,
    scan: Scan<'_, S>,
    rules: &Rules<'_>,
    tick: Option<Tick<'_>>,
    give: Give<'_>,
) -> Result<()> {
    let mut reader = Forward::reusing(take(buf), scan, tick);
    let mut quick = Quick::default();
    loop {
        match reader.next()? {
            None => break,
            Some(Framed::Whole(line, body)) => whole_line(rules, &mut quick, line, body, give)?,
            Some(Framed::Long) => long_line(rules, scan, &mut reader, give)?,
        }
    }
    reader.finish()?;
    *buf = reader.into_buffer();
    Ok(())
}

/// Gives what a line that is in memory brings.
fn whole_line(
    rules: &Rules<'_>,
    quick: &mut Quick,
    line: Line,
    body: &[u8],
    give: Give<'_>,
) -> io::Result<()> {
    let parsable = body.len() as u64 <= LINE_BYTES_MAX && is_ended(rules, line);
    match record::parse_body(body, rules.seed).filter(|_| parsable) {
        Some(sealed) => {
            let checks = rules.check_data && sealed.record().is_some();
            let is_decodable = !checks || check_quickly(quick, body) == Verdict::Ok;
            give_record(line, &sealed, is_decodable, give);
            Ok(())
        }
        None => give_damage(rules, line, &mut Slice(body), give),
    }
}

/// Gives what a line that is longer than the chunk brings.
fn long_line<S: Source + ?Sized>(
    rules: &Rules<'_>,
    scan: Scan<'_, S>,
    reader: &mut Forward<'_, '_, S>,
    give: Give<'_>,
) -> Result<()> {
    let mut sum = Sum::new(rules);
    while let Some(part) = reader.part()? {
        sum.push(part);
    }
    let line = reader.long_line();
    let body = scan.range(line.offset, line.body_end());
    if !sum.holds() || !is_ended(rules, line) {
        give_damage(rules, line, &mut Span::new(body), give)?;
        return Ok(());
    }
    let window = Scan { chunk_bytes: MEMBERS_BYTES, ..body };
    let members = record::layout(&mut Span::new(window), 0..body.stop - body.start)?;
    let sealed = members.map_or(Sealed::Undecodable, Sealed::Record);
    let is_decodable = sealed.record().is_none() || sum.is_decodable();
    give_record(line, &sealed, is_decodable, give);
    Ok(())
}

/// Whether a line may be a record: it has a newline, or nothing will ever follow it.
fn is_ended(rules: &Rules<'_>, line: Line) -> bool {
    line.terminated || rules.is_final
}

/// Sums a long line while it streams by.
struct Sum {
    /// The CRC of the bytes before those held.
    crc: Hasher,
    /// The newest bytes, at most those of a suffix.
    held: Vec<u8>,
    /// Bytes so far.
    length: u64,
    /// Judges the data, if that is wanted.
    judge: Option<Judge>,
}

impl Sum {
    /// Nothing is summed yet.
    fn new(rules: &Rules<'_>) -> Self {
        let judge = rules.check_data.then(Judge::default);
        let held = Vec::with_capacity(2 * SUFFIX_BYTES);
        Sum { crc: record::hasher(rules.seed), held, length: 0, judge }
    }

    /// Takes the next part; a line that is too long is not worth any work.
    fn push(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        if self.length > LINE_BYTES_MAX {
            return;
        }
        if let Some(judge) = &mut self.judge {
            judge.push(part, &mut ());
        }
        if let Some((summed, suffix)) = part.split_last_chunk::<SUFFIX_BYTES>() {
            self.crc.update(&self.held);
            self.crc.update(summed);
            self.held.clear();
            self.held.extend_from_slice(suffix);
        } else {
            self.held.extend_from_slice(part);
            let summed = self.held.len().saturating_sub(SUFFIX_BYTES);
            self.crc.update(&self.held[..summed]);
            self.held.drain(..summed);
        }
    }

    /// Whether the line ends in a suffix whose CRC holds.
    fn holds(&self) -> bool {
        let crc = record::suffix_crc(&self.held);
        self.length <= LINE_BYTES_MAX && crc == Some(record::closed(self.crc.clone()))
    }

    /// Whether the data can be decoded, as far as anybody asked.
    fn is_decodable(&self) -> bool {
        self.judge.as_ref().is_none_or(|judge| judge.verdict() == Verdict::Ok)
    }
}

/// Gives a line that is exactly one record.
fn give_record(line: Line, sealed: &Sealed, is_decodable: bool, give: Give<'_>) {
    give(Step::Record(Entry::new(sealed, line.offset, line.length)));
    if let (Some(record), false) = (sealed.record(), is_decodable) {
        let finding = Finding::new(Kind::Undecodable, line.offset, line.length);
        give(Step::Note(Finding { seq: Some(record.seq), ..finding }));
    }
    if !line.terminated {
        give(Step::Note(Finding::new(Kind::Unterminated, line.offset, line.length)));
    }
}

/// Gives any other line: its findings, then the pieces that are proven in it.
fn give_damage<T: Text>(
    rules: &Rules<'_>,
    line: Line,
    text: &mut T,
    give: Give<'_>,
) -> io::Result<()> {
    give(Step::BreakOff);
    let parts = Parts::split(text, line)?;
    let pieces = proven(text, &parts, rules.seed)?;
    let rest = damage_kind(text, &parts, rules, &pieces)?.map(|kind| parts.finding(kind));
    for finding in [parts.blank(), parts.before(), rest, parts.behind()].into_iter().flatten() {
        give(Step::Damage(finding));
    }
    for piece in &pieces {
        give(Step::Record(Entry::new(&piece.sealed, piece.offset, piece.length)));
    }
    Ok(())
}

/// A record that a CRC proves in a damaged line.
pub(crate) struct Piece {
    /// Its first byte.
    offset: u64,
    /// Its bytes; a newline right behind a whole rest counts.
    length: u64,
    /// Whether it is the line's whole rest.
    is_rest: bool,
    /// The record.
    pub(crate) sealed: Sealed,
}

/// What a CRC proves in a line: the whole rest, or pieces of it.
pub(crate) fn proven<T: Text>(text: &mut T, parts: &Parts, seed: u32) -> io::Result<Vec<Piece>> {
    if parts.is_blank || parts.is_too_long() {
        return Ok(Vec::new());
    }
    let (offset, length) = parts.span();
    if let Some(sealed) = record::parse_range(text, parts.rest.clone(), seed)? {
        return Ok(vec![Piece { offset, length, is_rest: true, sealed }]);
    }
    let base = offset - parts.rest.start;
    let pieces = proven_pieces(text, parts.rest.clone(), seed)?;
    let piece = |(range, record): (std::ops::Range<u64>, _)| Piece {
        offset: base + range.start,
        length: range.end - range.start,
        is_rest: false,
        sealed: Sealed::Record(record),
    };
    Ok(pieces.into_iter().map(piece).collect())
}

/// The finding over a damaged line's rest; `None` where NULs are all that is wrong with it.
fn damage_kind<T: Text>(
    text: &mut T,
    parts: &Parts,
    rules: &Rules<'_>,
    pieces: &[Piece],
) -> io::Result<Option<Kind>> {
    if parts.is_blank {
        return Ok(None);
    }
    if parts.is_too_long() {
        return Ok(Some(parts.or_torn(Kind::TooLong).kind));
    }
    match pieces {
        [piece, ..] if piece.is_rest => {
            let is_bare = !parts.has_nuls() && !parts.is_ended();
            return Ok(is_bare.then_some(Kind::Unterminated));
        }
        [_, ..] => return Ok(Some(Kind::Glued)),
        [] => {}
    }
    let verdict = judge_range(text, parts.rest.clone(), &mut ())?;
    if let Some(kind) = kind_of(verdict) {
        return Ok(Some(parts.or_torn(kind).kind));
    }
    let is_foreign = record::is_foreign(text, parts.rest.clone(), rules.other_seeds)?;
    Ok(Some(if is_foreign { Kind::Foreign } else { Kind::Crc }))
}
