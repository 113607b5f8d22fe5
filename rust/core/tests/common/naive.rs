//! Naive twins: the obvious way to the same answer, in as few ideas as possible.

use std::ops::Range;

/// (offset, length, terminated) of each line.
pub fn lines(bytes: &[u8]) -> Vec<(u64, u64, bool)> {
    let mut at = 0;
    let line = |line: &[u8]| {
        let offset = at;
        at += line.len() as u64;
        (offset, line.len() as u64, line.ends_with(b"\n"))
    };
    bytes.split_inclusive(|&byte| byte == b'\n').map(line).collect()
}

/// CRC-32 bit by bit, begun with another CRC as `zlib.crc32` begins it.
pub fn crc(bytes: &[u8], seed: u32) -> u32 {
    !bytes.iter().fold(!seed, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

/// Where a parse ended, and whether it was the depth. The length of the text: it was unclosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The byte that no well-formed text has there.
    pub at: usize,
    /// Whether it is a bracket too many.
    pub too_deep: bool,
}

/// A stop that is not for the depth.
fn stop<T>(at: usize) -> Result<T, Stop> {
    Err(Stop { at, too_deep: false })
}

/// The first position that is no white space.
fn skip(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !b" \t\n\r".contains(byte)).map_or(text.len(), |i| at + i)
}

/// The end of the value at `at`, by recursive descent.
pub fn value(text: &[u8], at: usize, depth: usize) -> Result<usize, Stop> {
    match text.get(at) {
        Some(b'"') => string(text, at),
        Some(b'{' | b'[') if depth == 200 => Err(Stop { at, too_deep: true }),
        Some(b'{') => members(text, at, depth, b'}'),
        Some(b'[') => members(text, at, depth, b']'),
        Some(b'-') if text.get(at + 1) == Some(&b'I') => word(text, at + 1, b"Infinity"),
        Some(b'-' | b'0'..=b'9') => number(text, at),
        Some(b't') => word(text, at, b"true"),
        Some(b'f') => word(text, at, b"false"),
        Some(b'n') => word(text, at, b"null"),
        Some(b'N') => word(text, at, b"NaN"),
        Some(b'I') => word(text, at, b"Infinity"),
        _ => stop(at),
    }
}

/// The end of an object or array.
fn members(text: &[u8], open: usize, depth: usize, close: u8) -> Result<usize, Stop> {
    let mut at = skip(text, open + 1);
    if text.get(at) == Some(&close) {
        return Ok(at + 1);
    }
    loop {
        if close == b'}' {
            if text.get(at) != Some(&b'"') {
                return stop(at);
            }
            at = skip(text, string(text, at)?);
            if text.get(at) != Some(&b':') {
                return stop(at);
            }
            at = skip(text, at + 1);
        }
        at = skip(text, value(text, at, depth + 1)?);
        match text.get(at) {
            Some(&byte) if byte == close => return Ok(at + 1),
            Some(b',') => at = skip(text, at + 1),
            _ => return stop(at),
        }
    }
}

/// The end of a word.
fn word(text: &[u8], from: usize, word: &[u8]) -> Result<usize, Stop> {
    for (i, byte) in word.iter().enumerate() {
        if text.get(from + i) != Some(byte) {
            return stop(from + i);
        }
    }
    Ok(from + word.len())
}

/// The end of a run of digits, of which there must be one.
fn digits(text: &[u8], from: usize) -> Result<usize, Stop> {
    let count = text[from.min(text.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 { stop(from) } else { Ok(from + count) }
}

/// The end of a number.
fn number(text: &[u8], from: usize) -> Result<usize, Stop> {
    let first = from + usize::from(text[from] == b'-');
    let all = digits(text, first)?;
    let mut at = if text[first] == b'0' { first + 1 } else { all };
    let mut is_integer = true;
    if text.get(at) == Some(&b'.') {
        at = digits(text, at + 1)?;
        is_integer = false;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at = digits(text, at + 1 + sign)?;
        is_integer = false;
    }
    if is_integer && at - first > 4_300 { stop(at) } else { Ok(at) }
}

/// The end of a string.
fn string(text: &[u8], open: usize) -> Result<usize, Stop> {
    let mut at = open + 1;
    loop {
        at = match text.get(at) {
            None | Some(0..=0x1F) => return stop(at),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => escape(text, at + 1)?,
            Some(_) => character(text, at)?,
        };
    }
}

/// The end of an escape, `at` behind its backslash.
fn escape(text: &[u8], at: usize) -> Result<usize, Stop> {
    match text.get(at) {
        Some(b'u') => (1..=4).try_fold(at + 1, |at, _| match text.get(at) {
            Some(byte) if byte.is_ascii_hexdigit() => Ok(at + 1),
            _ => stop(at),
        }),
        Some(byte) if b"\"\\/bfnrt".contains(byte) => Ok(at + 1),
        _ => stop(at),
    }
}

/// The end of a character, by asking the standard library about ever more bytes.
fn character(text: &[u8], at: usize) -> Result<usize, Stop> {
    for end in at + 1..=text.len() {
        match std::str::from_utf8(&text[at..end]) {
            Ok(_) => return Ok(end),
            Err(error) if error.error_len().is_some() => return stop(end - 1),
            Err(_) => {}
        }
    }
    stop(text.len())
}

/// The verdict on a text.
pub fn verdict(text: &[u8]) -> &'static str {
    if std::str::from_utf8(text).is_err() {
        return "not_utf8";
    }
    let first = skip(text, 0);
    match value(text, first, 0) {
        Err(stop) if stop.too_deep => "too_deep",
        Err(_) => "not_json",
        Ok(end) if skip(text, end) < text.len() => "not_json",
        Ok(_) if text[first] != b'{' => "not_object",
        Ok(_) => "ok",
    }
}

/// Whether the last top-level `type` of a well-formed object is a string. Keys are compared by a
/// decoder that is not ours.
fn is_typed(object: &[u8]) -> bool {
    let mut at = skip(object, 1);
    let mut typed = false;
    while object[at] == b'"' {
        let key_end = string(object, at).expect("well-formed");
        let key: Option<String> = serde_json::from_slice(&object[at..key_end]).ok();
        let start = skip(object, skip(object, key_end) + 1);
        let end = value(object, start, 1).expect("well-formed");
        typed = if key.as_deref() == Some("type") { object[start] == b'"' } else { typed };
        at = skip(object, end);
        at = if object[at] == b',' { skip(object, at + 1) } else { at };
    }
    typed
}

/// The complete objects of a damaged line by the piece rule.
pub fn pieces(text: &[u8]) -> Vec<Range<usize>> {
    let find = |at: usize| (at..text.len()).find(|&i| text[i] == b'{');
    let (mut found, mut at, mut next) = (Vec::new(), 0, find(0));
    while let Some(start) = next {
        match value(text, start, 0) {
            Ok(end) => {
                if skip(text, at) == start || is_typed(&text[start..end]) {
                    found.push(start..end);
                    at = end;
                }
                next = find(end);
            }
            Err(stop) if stop.at == text.len() => break,
            Err(Stop { at: stop, .. }) => {
                let inner = (start + 1..=stop).rev().find(|&i| text[i] == b'{');
                next = inner.or_else(|| find(stop + 1));
            }
        }
    }
    found
}

/// A number as a record writes it.
fn record_number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    let number: u64 = text.parse().ok()?;
    (text.len() <= 18 && number.to_string() == text).then_some(number)
}

/// The position of `word`, found by looking everywhere.
fn position(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

/// (seq, more, d, data) of a line that is exactly one record; `Err` where the CRC does not hold,
/// `Ok(None)` where the members are not as they should be.
#[allow(clippy::type_complexity, reason = "a test's answer")]
pub fn record(line: &[u8], seed: u32) -> Result<Option<(u64, Option<u64>, u64, Range<usize>)>, ()> {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let end = body.len().checked_sub(18).ok_or(())?;
    let sum = crc(&[&body[..end], b"}"].concat(), seed);
    if body[end..] != *format!(",\"crc\":\"{sum:08x}\"}}").as_bytes() {
        return Err(());
    }
    Ok(members_of(&body[..end]))
}

/// The members of a record without its suffix.
fn members_of(text: &[u8]) -> Option<(u64, Option<u64>, u64, Range<usize>)> {
    let rest = text.strip_prefix(b"{\"seq\":")?;
    let (seq, rest) = rest.split_at(position(rest, b",\"ts\":\"")?);
    let (ts, rest) = rest.strip_prefix(b",\"ts\":\"")?.split_at_checked(27)?;
    let rest = rest.strip_prefix(b"\",\"type\":\"")?;
    let (kind, mut rest) = rest.split_at(position(rest, b"\"")?);
    let plain = |byte: &u8| (0x20..0x7F).contains(byte) && !b"\"\\".contains(byte);
    if !ts.iter().chain(kind).all(plain) || kind.contains(&b' ') {
        return None;
    }
    if !(1..=128).contains(&kind.len()) {
        return None;
    }
    rest = &rest[1..];
    if let Some(key) = rest.strip_prefix(b",\"key\":\"") {
        let mut at = 0;
        while *key.get(at)? != b'"' {
            at += if key[at] == b'\\' { 2 } else { 1 };
        }
        rest = &key[at + 1..];
    }
    let rest = rest.strip_prefix(b",\"data\":")?;
    let start = text.len() - rest.len();
    let behind = |text: &[u8], word: &[u8]| {
        let at = (0..text.len()).rev().find(|&at| text[at..].starts_with(word))?;
        Some((record_number(&text[at + word.len()..])?, at))
    };
    let (d, end) = behind(rest, b",\"d\":")?;
    let batch = behind(&rest[..end], b",\"more\":");
    let end = batch.map_or(end, |(_, at)| at);
    let more = batch.map(|(more, _)| more);
    (end > 0).then_some((record_number(seq)?, more, d, start..start + end))
}

/// (next_seq, end) of the run of whole batches from seq 0 on: lines that are exactly the next
/// record, up to the first that is not.
pub fn run(bytes: &[u8], seed: u32, is_final: bool) -> (u64, u64) {
    let (mut next, mut open, mut whole) = (0, 0, (0, 0));
    for (offset, length, terminated) in lines(bytes) {
        let at = |at: u64| usize::try_from(at).expect("a position in memory");
        let (seq, more) = match record(&bytes[at(offset)..at(offset + length)], seed) {
            Ok(Some((seq, more, ..))) => (seq, more),
            Ok(None) => (next, None),
            Err(()) => break,
        };
        let fits = if open > 0 { more == Some(open - 1) } else { more != Some(0) };
        if !(terminated || is_final) || seq != next || !fits {
            break;
        }
        (next, open) = (next + 1, more.unwrap_or(0));
        if open == 0 {
            whole = (next, offset + length);
        }
    }
    whole
}
