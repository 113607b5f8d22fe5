//! Foreign logs: pieces against a naive twin, directions and chunk sizes against each other.

mod common;

use common::{CHUNKS, log, naive, scan, soup};
use proptest::prelude::*;
use safepoint_core::{
    Finding, Kind, Object, Scan, classify_line, find_object, inspect_jsonl, objects_backward,
    objects_forward,
};

/// A log of whole and damaged lines with a word in some of them.
fn foreign_log() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        3 => (0..12_u64, "[vw]").prop_map(|(seq, word)| {
            format!("{{\"seq\":{seq},\"type\":\"t\",\"a\":{{\"b\":\"{word}\"}}}}\n").into_bytes()
        }),
        1 => soup(10),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// Offset and length of each object.
fn spans(objects: &[Object]) -> Vec<(u64, u64)> {
    objects.iter().map(|object| (object.offset, object.length)).collect()
}

/// The newest object with a word at `a.b`, decoded by another parser.
fn naive_find(bytes: &[u8], objects: &[Object], word: &str) -> Option<(u64, u64)> {
    let holds = |object: &&Object| {
        let at = |at: u64| usize::try_from(at).unwrap();
        let text = &bytes[at(object.offset)..at(object.offset + object.length)];
        let value: Option<serde_json::Value> = serde_json::from_slice(text).ok();
        value.is_some_and(|value| value["a"]["b"] == word)
    };
    objects.iter().rev().find(holds).map(|object| (object.offset, object.length))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Objects inside damaged lines are those that the rule proves, read literally.
    #[test]
    fn pieces_equal_the_naive_ones(bytes in soup(25)) {
        let line: Vec<u8> = bytes.into_iter().filter(|byte| !b"\n\0".contains(byte)).collect();
        let (findings, objects) = classify_line(&line);
        let glued = findings.iter().any(|finding| finding.kind == Kind::Glued);
        if glued || objects.is_empty() && naive::verdict(&line) != "ok" {
            let expected: Vec<_> = naive::pieces(&line)
                .into_iter()
                .map(|piece| (piece.start as u64, piece.len() as u64))
                .collect();
            prop_assert_eq!(spans(&objects), expected);
        }
    }

    /// Forward, backward and `inspect` see the same objects, whatever the chunk and the threads.
    #[test]
    fn directions_and_chunks_agree(bytes in foreign_log()) {
        let default = inspect_jsonl(scan(&bytes, CHUNKS[4]), 1, None).unwrap();
        let is_document = default.findings.iter().any(|f| f.kind == Kind::NotJsonl);
        let (expected, _) = objects_forward(scan(&bytes, CHUNKS[4]), usize::MAX).unwrap();
        for chunk in CHUNKS {
            for threads in 1..=3 {
                let seen = inspect_jsonl(scan(&bytes, chunk), threads, None).unwrap();
                prop_assert_eq!(&seen.findings, &default.findings);
                let counts = (seen.records, seen.tail, seen.last_seq);
                prop_assert_eq!(counts, (default.records, default.tail, default.last_seq));
                prop_assert_eq!(seen.records, expected.len() as u64);
            }
            let (forward, _) = objects_forward(scan(&bytes, chunk), usize::MAX).unwrap();
            prop_assert_eq!(spans(&forward), spans(&expected));
            let (mut backward, _) = objects_backward(scan(&bytes, chunk), usize::MAX).unwrap();
            backward.reverse();
            prop_assert!(is_document || spans(&backward) == spans(&expected));
        }
    }

    /// Going on where an answer ended gives each object once, in both directions.
    #[test]
    fn going_on_gives_each_object_once(bytes in foreign_log(), max in 1..4_usize) {
        let (expected, _) = objects_forward(scan(&bytes, 7), usize::MAX).unwrap();
        let stop = bytes.len() as u64;
        let (mut at, mut seen) = (Some(0), Vec::new());
        while let Some(start) = at {
            let rest = Scan::new(&bytes[..], start, stop, 3).unwrap();
            let (objects, next) = objects_forward(rest, max).unwrap();
            seen.extend(spans(&objects));
            at = next;
        }
        prop_assert_eq!(seen, spans(&expected));
        let (all, _) = objects_backward(scan(&bytes, 7), usize::MAX).unwrap();
        let (mut at, mut seen) = (Some(stop), Vec::new());
        while let Some(end) = at {
            let rest = Scan::new(&bytes[..], 0, end, 3).unwrap();
            let (objects, next) = objects_backward(rest, max).unwrap();
            seen.extend(spans(&objects));
            at = next;
        }
        prop_assert_eq!(seen, spans(&all));
    }

    /// The newest object with a word is the one that a decoder finds.
    #[test]
    fn found_objects_hold_the_word(bytes in foreign_log()) {
        let (mut all, _) = objects_backward(scan(&bytes, 7), usize::MAX).unwrap();
        all.reverse();
        let expected = naive_find(&bytes, &all, "w");
        for chunk in CHUNKS {
            let found = find_object(scan(&bytes, chunk), &["a", "b"], "w", None).unwrap();
            prop_assert_eq!(found.map(|object| (object.offset, object.length)), expected);
        }
    }

    /// No finding reaches past the file, and none is empty.
    #[test]
    fn findings_stay_inside_the_file(bytes in log()) {
        let seen = inspect_jsonl(scan(&bytes, 3), 1, None).unwrap();
        let inside = |f: &Finding| f.length > 0 && f.offset + f.length <= bytes.len() as u64;
        prop_assert!(seen.findings.iter().all(inside));
    }
}

/// Escaped spellings, duplicates, arrays and text inside strings: only what is decoded counts.
#[test]
fn a_path_is_judged_as_decoded() {
    let path = ["a", "\u{1F600}"];
    for (line, expected) in [
        ("{\"a\":{\"\\ud83d\\ude00\":\"w\"}}", true),
        ("{\"\\u0061\":{\"\u{1F600}\":\"\\u0077\"}}", true),
        ("{\"a\":{\"\u{1F600}\":\"w\"},\"a\":1}", false),
        ("{\"a\":{\"\u{1F600}\":\"w\"},\"a\":{}}", false),
        ("{\"a\":{\"\u{1F600}\":\"v\",\"\u{1F600}\":\"w\"}}", true),
        ("{\"a\":[{\"\u{1F600}\":\"w\"}]}", false),
        ("{\"b\":{\"a\":{\"\u{1F600}\":\"w\"}}}", false),
        ("{\"a\":{\"\u{1F600}\":\"w\\ud83d\"}}", false),
        ("{\"a\":{\"\\ud83d\":\"w\",\"\\ude00\":\"w\"}}", false),
        ("{\"a\":\"{\\\"\u{1F600}\\\":\\\"w\\\"}\"}", false),
    ] {
        let found = find_object(scan(line.as_bytes(), 3), &path, "w", None).unwrap();
        assert_eq!(found.is_some(), expected, "{line}");
    }
}

/// A tick that refuses ends the scan at once: that is how Ctrl-C gets through.
#[test]
fn a_tick_ends_the_scan() {
    let mut refuse = |_| false;
    let result = inspect_jsonl(scan(b"{}\n", 7), 1, Some(&mut refuse));
    assert!(matches!(result, Err(safepoint_core::Error::Stopped)));
}
