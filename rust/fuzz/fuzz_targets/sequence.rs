//! Where the run ends, over the same logs, against a loop over their lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::CHUNK_BYTES;

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../common/log.rs"]
mod log;

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

use log::{SEEDS, log, walked};

fuzz_target!(|input: &[u8]| {
    let Some((&first, steps)) = input.split_first() else { return };
    let (bytes, is_final) = (log(steps), first & 1 == 1);
    let expected = naive::run(&bytes, SEEDS[0], is_final);
    for (chunk, threads) in [(usize::from(first).max(1), 1), (7, 2), (CHUNK_BYTES, 1)] {
        let seen = walked(&bytes, chunk, threads, is_final);
        assert_eq!((seen.next_seq, seen.end), expected);
    }
});
