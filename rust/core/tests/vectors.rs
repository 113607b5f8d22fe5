//! The vectors that both engines share. A missing or empty file fails: a suite that skips itself
//! proves nothing.

mod common;

use common::CHUNKS;
use common::scan;
use safepoint_core::{
    Finding, Place, Rules, Scan, Sealed, check_json, classify_line, inspect_jsonl, parse_record,
    walk,
};
use serde_json::{Value, json};

/// The cases of one file.
fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let cases: Vec<Value> = serde_json::from_slice(&text).expect("a list of cases");
    assert!(!cases.is_empty(), "{path} holds no case");
    cases
}

/// The bytes of a hexadecimal text.
fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The bytes of a case.
fn bytes(case: &Value) -> Vec<u8> {
    unhex(case["hex"].as_str().expect("a text"))
}

/// A number of a case.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A seed of a case.
fn seed(value: &Value) -> u32 {
    u32::try_from(number(value)).expect("a seed has 32 bits")
}

/// A number as it crosses the boundary.
fn or_minus_one(number: Option<u64>) -> Value {
    number.map_or(json!(-1), |number| json!(number))
}

/// A finding as it crosses the boundary.
fn finding(finding: &Finding) -> Value {
    json!([
        finding.kind.as_str(),
        finding.offset,
        finding.length,
        or_minus_one(finding.seq),
        or_minus_one(finding.missing.map(|range| range.0)),
        or_minus_one(finding.missing.map(|range| range.1)),
    ])
}

/// Findings as they cross the boundary.
fn findings(list: &[Finding]) -> Value {
    list.iter().map(finding).collect()
}

/// A place as it crosses the boundary.
fn place(place: Option<Place>) -> Value {
    place.map_or(Value::Null, |place| json!([place.seq, place.offset, place.length]))
}

/// Both engines reach the same verdict on a text.
#[test]
fn verdicts() {
    for case in cases("verdicts.json") {
        assert_eq!(check_json(&bytes(&case)).as_str(), case["verdict"], "{}", case["name"]);
    }
}

/// Both engines see the same findings and objects in a line.
#[test]
fn lines() {
    for case in cases("lines.json") {
        let (found, objects) = classify_line(&bytes(&case));
        let spans: Value =
            objects.iter().map(|object| json!([object.offset, object.length])).collect();
        assert_eq!(findings(&found), case["findings"], "{}", case["name"]);
        assert_eq!(spans, case["objects"], "{}", case["name"]);
    }
}

/// A record as it crosses the boundary, its key in hexadecimal digits.
fn record(line: &[u8], seed: u32) -> Value {
    let text = |range: &std::ops::Range<u64>| {
        &line[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
    };
    let plain = |range| std::str::from_utf8(text(range)).expect("ASCII");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match parse_record(line, seed) {
        None => Value::Null,
        Some(Sealed::Undecodable) => json!([-1, "", "", null, -1, -1, -1, 0]),
        Some(Sealed::Record(record)) => json!([
            record.seq,
            plain(&record.ts),
            plain(&record.kind),
            record.key.as_ref().map(|key| hex(text(key))),
            record.data.start,
            record.data.end,
            or_minus_one(record.more),
            record.d,
        ]),
    }
}

/// Both engines read the same members.
#[test]
fn records() {
    for case in cases("records.json") {
        let line = bytes(&case);
        assert_eq!(record(&line, seed(&case["seed"])), case["record"], "{}", case["name"]);
    }
}

/// Both engines say the same about a foreign log, at every chunk size.
#[test]
fn foreign_logs() {
    for case in cases("jsonl.json") {
        let log = bytes(&case);
        for chunk in CHUNKS {
            let seen = inspect_jsonl(scan(&log, chunk), 2, None).expect("memory is readable");
            let result = json!([
                seen.records,
                seen.tail,
                or_minus_one(seen.last_seq),
                findings(&seen.findings),
                seen.findings_omitted,
            ]);
            assert_eq!(result, case["result"], "{} in chunks of {chunk}", case["name"]);
        }
    }
}

/// Both engines say the same about a log of ours, at every chunk size.
#[test]
fn walks() {
    for case in cases("walks.json") {
        let log = bytes(&case);
        let others = case["other_seeds"].as_array().expect("a list");
        let others: Vec<u32> = others.iter().map(seed).collect();
        let rules = Rules {
            seed: seed(&case["seed"]),
            seq: number(&case["seq"]),
            is_final: case["final"] == true,
            check_data: case["check_data"] == true,
            other_seeds: &others,
        };
        for chunk in CHUNKS {
            let stop = log.len() as u64;
            let scan = Scan::new(&log[..], number(&case["start"]), stop, chunk).unwrap();
            let seen = walk(scan, &rules, 2, None).expect("memory is readable");
            let result = json!([
                seen.next_seq,
                seen.end,
                seen.watermark,
                place(seen.checkpoint),
                place(seen.last),
                seen.records_behind,
                findings(&seen.findings),
                seen.findings_omitted,
            ]);
            assert_eq!(result, case["result"], "{} in chunks of {chunk}", case["name"]);
        }
    }
}
