//! Objects inside a damaged line against the piece rule, read literally.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::{Kind, classify_line};

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

fuzz_target!(|input: &[u8]| {
    let line: Vec<u8> = input.iter().copied().filter(|byte| !b"\n\0".contains(byte)).collect();
    let (findings, objects) = classify_line(&line);
    let whole = naive::verdict(&line) == "ok";
    assert_eq!(whole, objects.len() == 1 && objects[0].length == line.len() as u64);
    let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
    if !whole {
        let pieces = naive::pieces(&line);
        let expected = pieces.iter().map(|piece| (piece.start as u64, piece.len() as u64));
        let ours = objects.iter().map(|object| (object.offset, object.length));
        assert_eq!(ours.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(kinds == [Kind::Glued], !pieces.is_empty());
    }
});
