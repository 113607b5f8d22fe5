//! Lines backward against `split`, the first byte choosing the chunk.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::{Scan, lines_backward};

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

fuzz_target!(|input: &[u8]| {
    let Some((&chunk, bytes)) = input.split_first() else { return };
    let chunk = usize::from(chunk).max(1);
    let scan = Scan::new(bytes, 0, bytes.len() as u64, chunk).expect("good arguments");
    let lines = lines_backward(scan, usize::MAX).expect("memory is readable");
    let lines = lines.iter().rev().map(|line| (line.offset, line.length, line.terminated));
    assert_eq!(lines.collect::<Vec<_>>(), naive::lines(bytes));
});
