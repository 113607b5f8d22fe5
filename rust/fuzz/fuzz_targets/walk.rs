//! Walks in chunks of 1 to 7 bytes, by up to three threads, against the default one, over a log put
//! together from the input: good records, batches, records of another segment, raw bytes between.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::CHUNK_BYTES;

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../common/log.rs"]
mod log;

use log::{log, walked};

fuzz_target!(|input: &[u8]| {
    let Some((&first, steps)) = input.split_first() else { return };
    let bytes = log(steps);
    let expected = walked(&bytes, CHUNK_BYTES, 1, first & 1 == 1);
    for chunk in 1..=7 {
        let seen = walked(&bytes, chunk, 1 + chunk % 3, first & 1 == 1);
        assert_eq!((seen.next_seq, seen.end), (expected.next_seq, expected.end));
        assert_eq!((seen.last, seen.checkpoint), (expected.last, expected.checkpoint));
        assert_eq!(seen.watermark, expected.watermark);
        assert_eq!(seen.records_behind, expected.records_behind);
        assert_eq!(seen.findings, expected.findings);
    }
});
