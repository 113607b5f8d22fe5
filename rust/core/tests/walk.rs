//! Walks over logs of ours: chunk sizes against each other, and what must always hold.

mod common;

use common::{CHUNKS, SEEDS, log, naive, record, scan};
use proptest::prelude::*;
use safepoint_core::{
    Finding, Kind, Members, Place, Rules, Walked, Wanted, find_record, find_watermark, seal_record,
    walk,
};

/// Walks a log from seq 0.
fn walked(bytes: &[u8], chunk: usize, is_final: bool) -> Walked {
    walked_by(1, bytes, chunk, is_final)
}

/// The same by several threads.
fn walked_by(threads: usize, bytes: &[u8], chunk: usize, is_final: bool) -> Walked {
    let other_seeds = &SEEDS[1..];
    let rules = Rules { seed: SEEDS[0], seq: 0, is_final, check_data: true, other_seeds };
    walk(scan(bytes, chunk), &rules, threads, None).expect("memory is readable")
}

/// All that a walk says, to be compared.
type Said = ([u64; 5], [Option<Place>; 2], Vec<Finding>);

/// Takes a result apart.
fn said(walked: Walked) -> Said {
    let Walked { next_seq, end, watermark, records_behind, findings_omitted, .. } = walked;
    let numbers = [next_seq, end, watermark, records_behind, findings_omitted];
    (numbers, [walked.checkpoint, walked.last], walked.findings)
}

/// The newest exact record, by looking at every line.
fn naive_find(bytes: &[u8], seq_max: u64) -> Option<(u64, u64)> {
    naive::lines(bytes).into_iter().rev().find_map(|(offset, length, _)| {
        let at = |at: u64| usize::try_from(at).unwrap();
        let line = &bytes[at(offset)..at(offset + length)];
        let (seq, ..) = naive::record(line, SEEDS[0]).ok()??;
        (seq <= seq_max).then_some((seq, offset))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Lines that stream by are judged as lines in memory are.
    #[test]
    fn walks_do_not_depend_on_the_chunk(bytes in log(), is_final: bool) {
        let expected = said(walked(&bytes, CHUNKS[4], is_final));
        for chunk in 1..=7 {
            prop_assert_eq!(said(walked(&bytes, chunk, is_final)), expected.clone());
        }
    }

    /// Pieces that are looked at side by side give what one look from the front gives.
    #[test]
    fn walks_do_not_depend_on_the_threads(bytes in log(), is_final: bool) {
        let expected = said(walked(&bytes, CHUNKS[4], is_final));
        for (threads, chunk) in [(2, 1), (2, 40), (3, 7), (5, 100)] {
            prop_assert_eq!(said(walked_by(threads, &bytes, chunk, is_final)), expected.clone());
        }
    }

    /// Where a log ends decides what is cut: it is where a loop over its lines says.
    #[test]
    fn the_run_is_the_naive_one(bytes in log(), is_final: bool) {
        for chunk in CHUNKS {
            let seen = walked(&bytes, chunk, is_final);
            prop_assert_eq!((seen.next_seq, seen.end), naive::run(&bytes, SEEDS[0], is_final));
        }
    }

    /// The run ends at a line end, holds only whole batches, and a walk of it alone is clean.
    #[test]
    fn the_run_is_a_clean_prefix(bytes in log()) {
        let whole = walked(&bytes, 7, false);
        let end = usize::try_from(whole.end).unwrap();
        prop_assert!(end == 0 || bytes[end - 1] == b'\n');
        let again = walked(&bytes[..end], 7, false);
        prop_assert_eq!((again.next_seq, again.end), (whole.next_seq, whole.end));
        prop_assert_eq!((again.last, again.checkpoint), (whole.last, whole.checkpoint));
        prop_assert!(again.findings.iter().all(|f| f.kind == Kind::Undecodable));
        prop_assert_eq!(again.records_behind, 0);
    }

    /// A log that was cut anywhere loses nothing but its last batch.
    #[test]
    fn a_cut_loses_only_what_it_cut(count in 1..9_u64, cut in 0..2_000_usize) {
        let records: Vec<_> = (0..count).map(|seq| record(SEEDS[0], seq, -1)).collect();
        let bytes = records.concat();
        let kept = cut.min(bytes.len());
        let expected = (0..records.len()).filter(|&i| records[..=i].concat().len() <= kept).count();
        let walked = walked(&bytes[..kept], 3, false);
        prop_assert_eq!(walked.next_seq, expected as u64);
    }

    /// The backward scan finds what looking at every line finds.
    #[test]
    fn found_records_equal_the_naive_ones(bytes in log(), seq_max in 0..20_u64) {
        let expected = naive_find(&bytes, seq_max);
        for chunk in CHUNKS {
            let wanted = Wanted { seed: SEEDS[0], kind: "", seq_max };
            let found = find_record(scan(&bytes, chunk), &wanted, None).unwrap();
            prop_assert_eq!(found.map(|place| (place.seq, place.offset)), expected);
        }
    }

    /// The watermark does not depend on the chunk and is one that the walk has seen.
    #[test]
    fn watermarks_agree(bytes in log()) {
        let expected = find_watermark(scan(&bytes, CHUNKS[4]), SEEDS[0], None).unwrap();
        prop_assert!(expected <= Some(walked(&bytes, 7, true).watermark));
        for chunk in CHUNKS {
            let found = find_watermark(scan(&bytes, chunk), SEEDS[0], None).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}

/// A record far longer than the chunk, with a key longer than any window, is still a record.
#[test]
fn giant_records_stream() {
    let key = format!("\"{}\"", "k\\\"".repeat(5_000));
    let data = format!("{{\"text\":\"{}\"}}", "x".repeat(100_000));
    let (ts, kind) = (b"2026-12-01T04:48:28.123456Z", "checkpoint");
    let (key, data) = (Some(key.as_bytes()), data.as_bytes());
    let line = seal_record(&Members { seq: 0, ts, kind, key, data, more: -1, d: 0 }, SEEDS[0]);
    for chunk in [1, 7, 4_096] {
        let walked = walked(&line, chunk, false);
        let place = Place { seq: 0, offset: 0, length: line.len() as u64 };
        assert_eq!((walked.last, walked.checkpoint), (Some(place), Some(place)));
        assert!(walked.findings.is_empty());
        let wanted = Wanted { seed: SEEDS[0], kind: "checkpoint", seq_max: 9 };
        assert_eq!(find_record(scan(&line, chunk), &wanted, None).unwrap(), Some(place));
    }
}

/// A stub with a record behind it: the record is proven, its line still ends the run.
#[test]
fn a_glued_record_is_proven_but_ends_the_run() {
    let (first, second) = (record(SEEDS[0], 0, -1), record(SEEDS[0], 1, -1));
    let bytes = [&first[..], b"{\"seq\":1,\"ts\":\"20", &second].concat();
    let walked = walked(&bytes, 7, true);
    let (next_seq, end) = (walked.next_seq, walked.end);
    assert_eq!((next_seq, end, walked.records_behind), (1, first.len() as u64, 1));
    assert_eq!(walked.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), [Kind::Glued]);
}

/// A record quoted in the data of another is part of it, not a piece of its own.
#[test]
fn a_piece_is_not_looked_for_inside_another() {
    let inner = record(SEEDS[0], 7, -1);
    let (ts, kind, key) = (b"2026-12-01T04:48:28.123456Z", "note", None);
    let data = &inner[..inner.len() - 1];
    let outer = seal_record(&Members { seq: 0, ts, kind, key, data, more: -1, d: 0 }, SEEDS[0]);
    // As a suffix holds only over all bytes before it, the inner one is met first, and fails.
    let walked = walked(&[b"x", &outer[..]].concat(), 7, true);
    assert_eq!((walked.records_behind, walked.findings.len()), (1, 1));
    assert_eq!((walked.findings[0].kind, walked.findings[0].missing), (Kind::Glued, None));
}

/// Records behind a checkpoint do not make the run forget it: resume starts there.
#[test]
fn the_newest_checkpoint_stays() {
    let records: Vec<_> = (0..5).map(|seq| record(SEEDS[0], seq, -1)).collect();
    let walked = walked(&records.concat(), 7, true);
    let seqs = (walked.checkpoint.map(|place| place.seq), walked.last.map(|place| place.seq));
    assert_eq!(seqs, (Some(2), Some(4)));
}
