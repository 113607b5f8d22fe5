//! Several threads: what they say when a log is hostile, a read fails or a caller has had enough.

mod common;

use std::io;

use common::{SEEDS, record};
use safepoint_core::source::Source;
use safepoint_core::{
    CHUNK_BYTES, Error, Kind, Members, Rules, Scan, inspect_jsonl, seal_record, walk,
};

/// Rules for a log that starts with seq 0.
fn rules() -> Rules<'static> {
    Rules { seed: SEEDS[0], seq: 0, is_final: true, check_data: false, other_seeds: &[] }
}

/// A log of `count` records, and in front of it a line that is longer than many pieces.
fn long_and_short(count: u64) -> Vec<u8> {
    let text = format!("\"{}\"", "x".repeat(10 * CHUNK_BYTES));
    let long = Members {
        seq: 0,
        ts: b"2026-12-01T04:48:28.123456Z",
        kind: "note",
        key: None,
        data: text.as_bytes(),
        more: -1,
        d: 0,
    };
    let first = seal_record(&long, SEEDS[0]);
    first.into_iter().chain((1..count).flat_map(|seq| record(SEEDS[0], seq, -1))).collect()
}

/// A line over many pieces is one thread's work, and nothing behind it is lost or taken twice.
#[test]
fn a_line_longer_than_many_pieces_is_one_record() {
    let log = long_and_short(30_000);
    for threads in 1..=4 {
        let scan = Scan::new(&log[..], 0, log.len() as u64, CHUNK_BYTES).unwrap();
        let seen = walk(scan, &rules(), threads, None).unwrap();
        assert_eq!((seen.next_seq, seen.end), (30_000, log.len() as u64));
        assert!(seen.findings.is_empty());
    }
}

/// A piece with more lines than anybody keeps costs bounded memory and says the same.
#[test]
fn a_piece_full_of_tiny_lines_is_looked_at_again() {
    let log = b"{}\nx\n".repeat(400_000);
    let seen = [1, 3].map(|threads| {
        let scan = Scan::new(&log[..], 0, log.len() as u64, CHUNK_BYTES).unwrap();
        let seen = inspect_jsonl(scan, threads, None).unwrap();
        (seen.records, seen.tail, seen.findings, seen.findings_omitted)
    });
    assert_eq!(seen[0].0, 400_000);
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].2.last().unwrap().kind, Kind::NotJson);
}

/// Bytes whose end cannot be read.
struct Failing(Vec<u8>);

impl Source for Failing {
    fn size(&self) -> io::Result<u64> {
        self.0[..].size()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let good = self.0.len() / 2;
        if offset + buf.len() as u64 > good as u64 {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0[..].read_at(buf, offset)
    }
}

/// A read that fails on any thread ends the scan with its error, and no thread waits for ever.
#[test]
fn a_failed_read_ends_all_threads() {
    let source = Failing(long_and_short(30_000));
    for threads in 1..=4 {
        let scan = Scan::new(&source, 0, u64::MAX, 10_000).unwrap();
        assert!(matches!(walk(scan, &rules(), threads, None), Err(Error::Io(_))));
    }
}

/// A caller hears of progress in order up to the last byte, and ends the scan when it says so.
#[test]
fn ticks_come_in_order_and_end_the_scan() {
    let log = record(SEEDS[0], 0, -1).repeat(400_000);
    for threads in 1..=3 {
        let mut heard = Vec::new();
        let scan = Scan::new(&log[..], 0, log.len() as u64, CHUNK_BYTES).unwrap();
        let mut hear = |done| {
            heard.push(done);
            true
        };
        walk(scan, &rules(), threads, Some(&mut hear)).unwrap();
        assert!(heard.len() > 1 && heard.is_sorted());
        assert_eq!(heard.last(), Some(&(log.len() as u64)));
        let mut refuse = |_| false;
        assert!(matches!(walk(scan, &rules(), threads, Some(&mut refuse)), Err(Error::Stopped)));
    }
}

/// A line that never ends must not make a caller deaf, on whichever thread it is looked at.
#[test]
fn a_caller_is_heard_in_the_middle_of_a_long_line() {
    let mut log = record(SEEDS[0], 0, -1).repeat(40_000);
    log.resize(log.len() + 80_000_000, b'x');
    for threads in 1..=3 {
        let (mut heard, mut last) = (0, 0);
        let scan = Scan::new(&log[..], 0, log.len() as u64, CHUNK_BYTES).unwrap();
        let mut refuse = |done| {
            (heard, last) = (heard + 1, done);
            heard < 2
        };
        let result = walk(scan, &rules(), threads, Some(&mut refuse));
        assert!(last < log.len() as u64, "heard at the end only");
        assert!(matches!(result, Err(Error::Stopped)));
    }
}
