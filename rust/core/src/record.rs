//! The layout of a record of ours, and the only place in the core that knows it.
//!
//! ```text
//! {"seq":N,"ts":"<27>","type":"<1..128>"[,"key":"..."],"data":<json>[,"more":N],"d":N,"crc":"h8"}
//! |---------------- prefix ------------||---- key ---||-- data --|  |------ ending -----||suffix|
//! ```
//!
//! The CRC is that of `zlib.crc32` over the bytes before the suffix and one `}`, so a record
//! without its suffix, closed again, is what was summed. The suffix is compared literally.

use std::io;
use std::ops::Range;

use crc32fast::Hasher;

use crate::decimal::Decimal;
use crate::text::{Slice, Text, for_each, position};

const SEQ: &[u8] = b"{\"seq\":";
const TS: &[u8] = b",\"ts\":\"";
const TYPE: &[u8] = b"\",\"type\":\"";
const KEY: &[u8] = b"\",\"key\":\"";
const KEY_BEHIND_TYPE: &[u8] = KEY.split_at(KEY.len() - 1).0;
const DATA_BEHIND_TYPE: &[u8] = b"\",\"data\":";
const DATA_BEHIND_KEY: &[u8] = b",\"data\":";
const MORE: &[u8] = b",\"more\":";
const D: &[u8] = b",\"d\":";
const CRC: &[u8] = b",\"crc\":\"";
const CLOSE: &[u8] = b"\"}";

/// Digits of the largest number in a record: 18, so that it fits into a signed 64-bit integer.
const NUMBER_DIGITS_MAX: usize = 18;
/// Bytes of a timestamp to the microsecond, as in `2026-12-01T04:48:28.123456Z`.
const TS_BYTES: usize = 27;
/// Bytes of the longest type.
const TYPE_BYTES_MAX: usize = 128;
/// Hexadecimal digits of a CRC-32.
const CRC_DIGITS: usize = 8;
/// Bytes of the suffix: 18.
pub(crate) const SUFFIX_BYTES: usize = CRC.len() + CRC_DIGITS + CLOSE.len();
/// Bytes of the longest prefix, the start of a key or of data included.
pub(crate) const PREFIX_BYTES_MAX: usize = SEQ.len()
    + NUMBER_DIGITS_MAX
    + TS.len()
    + TS_BYTES
    + TYPE.len()
    + TYPE_BYTES_MAX
    + DATA_BEHIND_TYPE.len();
/// Bytes of the longest ending.
const ENDING_BYTES_MAX: usize = MORE.len() + D.len() + 2 * NUMBER_DIGITS_MAX;

/// How a record begins, and how a suffix does: what pieces are looked for by.
pub(crate) const STARTS: &[u8] = SEQ;
pub(crate) const SUFFIX_STARTS: &[u8] = CRC;
/// How a segment's header begins.
pub(crate) const HEADER_STARTS: &[u8] = b"{\"safepoint\":";

/// The type of the records that hold a full resumable state.
const CHECKPOINT: &[u8] = b"checkpoint";

/// A record whose members are as they should be. Ranges are relative to its first byte.
pub struct Record {
    /// Its seq.
    pub seq: u64,
    /// Its timestamp.
    pub ts: Range<u64>,
    /// Its type.
    pub kind: Range<u64>,
    /// Whether that is the type of a checkpoint.
    pub is_checkpoint: bool,
    /// The encoded JSON string that is its key.
    pub key: Option<Range<u64>>,
    /// Its data.
    pub data: Range<u64>,
    /// How many records of its batch follow.
    pub more: Option<u64>,
    /// Its watermark.
    pub d: u64,
}

/// The bytes of a member, where `line` is the line that was parsed.
pub fn member<'a>(line: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let index = |at: u64| usize::try_from(at).expect("a position inside the line");
    &line[index(range.start)..index(range.end)]
}

/// What a CRC proves about a line.
pub enum Sealed {
    /// A record.
    Record(Record),
    /// The CRC holds, but the members are not as they should be.
    Undecodable,
}

impl Sealed {
    /// The record, if it is one.
    pub fn record(&self) -> Option<&Record> {
        match self {
            Sealed::Record(record) => Some(record),
            Sealed::Undecodable => None,
        }
    }
}

/// The CRC of a text that is summed part by part.
pub(crate) fn hasher(seed: u32) -> Hasher {
    Hasher::new_with_initial(seed)
}

/// The CRC of what was summed and the brace that closes it.
pub(crate) fn closed(mut crc: Hasher) -> u32 {
    crc.update(b"}");
    crc.finalize()
}

/// The CRC that a suffix holds; `None` if `bytes` is no suffix.
pub(crate) fn suffix_crc(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(CRC)?.strip_suffix(CLOSE)?;
    if digits.len() != CRC_DIGITS {
        return None;
    }
    digits.iter().try_fold(0, |crc, &digit| match digit {
        b'0'..=b'9' => Some(crc << 4 | u32::from(digit - b'0')),
        b'a'..=b'f' => Some(crc << 4 | u32::from(digit - b'a' + 10)),
        _ => None,
    })
}

/// A line without its newline.
fn body(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Whether a body ends in the suffix and its CRC holds.
fn body_holds(body: &[u8], seed: u32) -> bool {
    let Some((summed, suffix)) = body.split_last_chunk::<SUFFIX_BYTES>() else { return false };
    let Some(crc) = suffix_crc(suffix) else { return false };
    let mut hasher = hasher(seed);
    hasher.update(summed);
    closed(hasher) == crc
}

/// Whether a line, its newline optional, ends in the suffix and its CRC holds.
pub fn check_seal(line: &[u8], seed: u32) -> bool {
    body_holds(body(line), seed)
}

/// A JSON object without its closing brace as a line, with suffix and newline.
pub fn seal(text: &[u8], seed: u32) -> Vec<u8> {
    let mut line = vec![0; text.len() + SUFFIX_BYTES + 1];
    line[..text.len()].copy_from_slice(text);
    seal_in_place(&mut line, seed);
    line
}

/// Writes suffix and newline behind the text that fills the rest of `line`.
fn seal_in_place(line: &mut [u8], seed: u32) {
    let (text, mut rest) = line.split_at_mut(line.len() - SUFFIX_BYTES - 1);
    let mut hasher = hasher(seed);
    hasher.update(text);
    let crc = closed(hasher);
    let mut digits = [0; CRC_DIGITS];
    for (digit, shift) in digits.iter_mut().zip((0..32).step_by(4).rev()) {
        *digit = b"0123456789abcdef"[(crc >> shift & 15) as usize];
    }
    for part in [CRC, &digits, CLOSE, b"\n"] {
        rest = put(rest, part);
    }
}

/// Copies `part` to the front of `room` and gives what is left of it.
fn put<'a>(room: &'a mut [u8], part: &[u8]) -> &'a mut [u8] {
    let (front, rest) = room.split_at_mut(part.len());
    front.copy_from_slice(part);
    rest
}

/// The same line under another seed, its newline added; `None` if it has no suffix.
pub fn reseal(line: &[u8], seed: u32) -> Option<Vec<u8>> {
    let (text, suffix) = body(line).split_last_chunk::<SUFFIX_BYTES>()?;
    suffix_crc(suffix).map(|_| seal(text, seed))
}

/// The members of a record to be sealed; `key` and `data` are encoded JSON.
pub struct Members<'a> {
    /// Its seq.
    pub seq: i64,
    /// Its timestamp.
    pub ts: &'a [u8],
    /// Its type.
    pub kind: &'a str,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its data.
    pub data: &'a [u8],
    /// How many records of its batch follow, negative outside a batch.
    pub more: i64,
    /// Its watermark.
    pub d: i64,
}

/// A record whose members are known and whose bytes are not written yet.
pub struct Unsealed<'a> {
    /// The seq and what follows it up to the type.
    seq: Decimal,
    ts: &'a [u8],
    kind: &'a [u8],
    /// What stands around the key, and the key; empty without one.
    key: [&'a [u8]; 2],
    /// The start of the data member, and the data.
    data: [&'a [u8]; 2],
    /// The start of the batch member and its number; empty outside a batch.
    more: (&'static [u8], Decimal),
    d: Decimal,
}

impl<'a> Unsealed<'a> {
    /// The record of these members.
    pub fn new(members: &Members<'a>) -> Self {
        let more = match members.more {
            ..0 => (&b""[..], Decimal::none()),
            more => (MORE, Decimal::new(more)),
        };
        let (key, starts): ([&[u8]; 2], _) = match members.key {
            Some(key) => ([KEY_BEHIND_TYPE, key], DATA_BEHIND_KEY),
            None => ([b"", b""], DATA_BEHIND_TYPE),
        };
        Unsealed {
            seq: Decimal::new(members.seq),
            ts: members.ts,
            kind: members.kind.as_bytes(),
            key,
            data: [starts, members.data],
            more,
            d: Decimal::new(members.d),
        }
    }

    /// Its parts in their order, but for the suffix.
    fn parts(&self) -> [&[u8]; 14] {
        let [key_starts, key] = self.key;
        let [data_starts, data] = self.data;
        let (more_starts, more) = &self.more;
        [
            SEQ,
            self.seq.digits(),
            TS,
            self.ts,
            TYPE,
            self.kind,
            key_starts,
            key,
            data_starts,
            data,
            more_starts,
            more.digits(),
            D,
            self.d.digits(),
        ]
    }

    /// Bytes of the line.
    pub fn line_bytes(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum::<usize>() + SUFFIX_BYTES + 1
    }

    /// Writes the line, which must have room for exactly `line_bytes`.
    pub fn seal_into(&self, line: &mut [u8], seed: u32) {
        let mut room = &mut *line;
        for part in self.parts() {
            room = put(room, part);
        }
        seal_in_place(line, seed);
    }
}

/// One record as a line.
pub fn seal_record(members: &Members<'_>, seed: u32) -> Vec<u8> {
    let record = Unsealed::new(members);
    let mut line = vec![0; record.line_bytes()];
    record.seal_into(&mut line, seed);
    line
}

/// The record that a line, its newline optional, exactly is; `None` where the CRC does not hold.
pub fn parse_record(line: &[u8], seed: u32) -> Option<Sealed> {
    parse_body(body(line), seed)
}

/// The same for a line without its newline.
pub(crate) fn parse_body(body: &[u8], seed: u32) -> Option<Sealed> {
    if !body_holds(body, seed) {
        return None;
    }
    let record = layout(&mut Slice(body), 0..body.len() as u64).expect("memory is readable");
    Some(record.map_or(Sealed::Undecodable, Sealed::Record))
}

/// The same for a range of a line that may be too long for memory.
pub(crate) fn parse_range<T: Text>(
    text: &mut T,
    range: Range<u64>,
    seed: u32,
) -> io::Result<Option<Sealed>> {
    let Some((summed, crc)) = sealed_part(text, range.clone())? else { return Ok(None) };
    let mut hasher = hasher(seed);
    for_each(text, summed, |_, part| {
        hasher.update(part);
        true
    })?;
    if closed(hasher) != crc {
        return Ok(None);
    }
    let record = layout(text, range)?;
    Ok(Some(record.map_or(Sealed::Undecodable, Sealed::Record)))
}

/// The part of a range that its suffix sums up, and the CRC there.
pub(crate) fn sealed_part<T: Text>(
    text: &mut T,
    range: Range<u64>,
) -> io::Result<Option<(Range<u64>, u32)>> {
    if range.end - range.start < SUFFIX_BYTES as u64 {
        return Ok(None);
    }
    let stop = range.end - SUFFIX_BYTES as u64;
    let suffix = &text.ahead(stop, SUFFIX_BYTES)?[..SUFFIX_BYTES];
    Ok(suffix_crc(suffix).map(|crc| (range.start..stop, crc)))
}

/// What stands before the data.
struct Prefix {
    /// The seq.
    seq: u64,
    /// Where the type begins; the timestamp stands before it.
    kind_start: usize,
    /// The end of the type.
    kind_end: usize,
    /// Whether it is that of a checkpoint.
    is_checkpoint: bool,
    /// Whether a key follows.
    keyed: bool,
    /// Bytes up to the data, or up to and with the quote that opens the key.
    length: usize,
}

/// The members of a range that ends in a suffix; `None` if they are not as they should be.
/// Looks at the ends and the key alone, however long the data is.
pub(crate) fn layout<T: Text>(text: &mut T, range: Range<u64>) -> io::Result<Option<Record>> {
    let stop = range.end - SUFFIX_BYTES as u64;
    let head = text.ahead(range.start, PREFIX_BYTES_MAX)?;
    let Some(prefix) = prefix(&head[..head.len().min(PREFIX_BYTES_MAX)]) else { return Ok(None) };
    let mut data_start = range.start + prefix.length as u64;
    let mut key = None;
    if prefix.keyed {
        let opening = data_start - 1;
        let Some(end) = key_end(text, data_start..stop)? else { return Ok(None) };
        key = Some(opening - range.start..end - range.start);
        let behind = text.ahead(end, DATA_BEHIND_KEY.len())?;
        if !behind.starts_with(DATA_BEHIND_KEY) {
            return Ok(None);
        }
        data_start = end + DATA_BEHIND_KEY.len() as u64;
    }
    if data_start >= stop {
        return Ok(None);
    }
    let from = data_start.max(stop.saturating_sub(ENDING_BYTES_MAX as u64));
    let window = text.ahead(from, ENDING_BYTES_MAX)?;
    let length = usize::try_from(stop - from).expect("at most the longest ending");
    let Some((more, d, data_bytes)) = ending(&window[..length]) else { return Ok(None) };
    let data_stop = from + data_bytes as u64;
    if data_stop <= data_start {
        return Ok(None);
    }
    let data = data_start - range.start..data_stop - range.start;
    let Prefix { seq, kind_start, kind_end, is_checkpoint, .. } = prefix;
    let ts_end = (kind_start - TYPE.len()) as u64;
    let (ts, kind) = (ts_end - TS_BYTES as u64..ts_end, kind_start as u64..kind_end as u64);
    Ok(Some(Record { seq, ts, kind, is_checkpoint, key, data, more, d }))
}

/// Parses the front of a record.
fn prefix(head: &[u8]) -> Option<Prefix> {
    let (seq, rest) = leading_number(head.strip_prefix(SEQ)?)?;
    let (ts, rest) = rest.strip_prefix(TS)?.split_first_chunk::<TS_BYTES>()?;
    let is_text = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
    // No early end, so that the compiler looks at all of them at once.
    if !ts.iter().fold(true, |good, &byte| good & is_text(byte)) {
        return None;
    }
    let rest = rest.strip_prefix(TYPE)?;
    let is_type = |byte: u8| byte != b' ' && is_text(byte);
    let length = rest.iter().position(|&byte| !is_type(byte))?;
    if !(1..=TYPE_BYTES_MAX).contains(&length) {
        return None;
    }
    let (kind, rest) = rest.split_at(length);
    let kind_end = head.len() - rest.len();
    let keyed = rest.starts_with(KEY);
    let rest = rest.strip_prefix(if keyed { KEY } else { DATA_BEHIND_TYPE })?;
    Some(Prefix {
        seq,
        kind_start: kind_end - length,
        kind_end,
        is_checkpoint: kind == CHECKPOINT,
        keyed,
        length: head.len() - rest.len(),
    })
}

/// Whether a line that begins with `head` may be a record of type `kind`: a look at the place of
/// the type alone, by which a search passes over other records.
pub(crate) fn may_have_kind(head: &[u8], kind: &[u8]) -> bool {
    let digits = head.get(SEQ.len()..).unwrap_or_default();
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let place = SEQ.len() + count + TS.len() + TS_BYTES + TYPE.len();
    let rest = head.get(place..).and_then(|rest| rest.strip_prefix(kind));
    rest.is_some_and(|rest| rest.starts_with(b"\""))
}

/// The end of a JSON string whose bytes behind the opening quote are `range`: behind the first
/// quote that is not escaped.
fn key_end<T: Text>(text: &mut T, range: Range<u64>) -> io::Result<Option<u64>> {
    let mut at = range.start;
    while at < range.end {
        let special = |byte| byte == b'"' || byte == b'\\';
        let Some(found) = position(text, at..range.end, special)? else { break };
        if text.ahead(found, 1)?[0] == b'"' {
            return Ok(Some(found + 1));
        }
        at = found + 2;
    }
    Ok(None)
}

/// Parses the back of a record, its suffix cut off: `more`, `d`, and the bytes before both.
fn ending(window: &[u8]) -> Option<(Option<u64>, u64, usize)> {
    let (d, rest) = trailing_number(window)?;
    let rest = rest.strip_suffix(D)?;
    let batch =
        trailing_number(rest).and_then(|(more, before)| Some((more, before.strip_suffix(MORE)?)));
    Some(match batch {
        Some((more, before)) => (Some(more), d, before.len()),
        None => (None, d, rest.len()),
    })
}

/// A number at the front of `bytes`, and what follows it.
fn leading_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = bytes.split_at(count);
    Some((number(digits)?, rest))
}

/// A number at the back of `bytes`, and what precedes it.
fn trailing_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let count = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = bytes.split_at(bytes.len() - count);
    Some((number(digits)?, rest))
}

/// The value of digits as a record writes them: 1 to 18, and no zero before others.
fn number(digits: &[u8]) -> Option<u64> {
    let padded = digits.len() > 1 && digits[0] == b'0';
    if padded || !(1..=NUMBER_DIGITS_MAX).contains(&digits.len()) {
        return None;
    }
    Some(digits.iter().fold(0, |value, &digit| value * 10 + u64::from(digit - b'0')))
}

/// Whether a range is a whole line of another segment: sealed under one of `seeds`, or a header.
/// One pass over the bytes, whatever the number of seeds.
pub(crate) fn is_foreign<T: Text>(
    text: &mut T,
    range: Range<u64>,
    seeds: &[u32],
) -> io::Result<bool> {
    let Some((summed, crc)) = sealed_part(text, range.clone())? else { return Ok(false) };
    let mut sum = Hasher::new();
    for_each(text, summed, |_, part| {
        sum.update(part);
        true
    })?;
    sum.update(b"}");
    let holds = |seed: u32| {
        let mut seeded = hasher(seed);
        seeded.combine(&sum);
        seeded.finalize() == crc
    };
    if seeds.iter().any(|&seed| holds(seed)) {
        return Ok(true);
    }
    let head = text.ahead(range.start, HEADER_STARTS.len())?;
    Ok(head.starts_with(HEADER_STARTS) && holds(0))
}
