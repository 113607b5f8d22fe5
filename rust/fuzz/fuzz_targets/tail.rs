//! The tail that a crash leaves: records, cut anywhere, then whatever the file system put there.
//! All that was whole before the cut is kept, and the end is where a loop over the lines says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::{CHUNK_BYTES, Scan, find_watermark};

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../common/log.rs"]
mod log;

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

use log::{SEEDS, record, walked};

fuzz_target!(|input: &[u8]| {
    let Some((&[count, cut, ..], rest)) = input.split_first_chunk::<3>() else { return };
    let (count, is_final) = (i64::from(count % 8), input[2] & 1 == 1);
    let mut bytes: Vec<u8> = (0..count).flat_map(|seq| record(SEEDS[0], seq, -1)).collect();
    let whole = bytes.len();
    bytes.extend(record(SEEDS[0], count, -1));
    bytes.truncate(whole + usize::from(cut).min(bytes.len() - whole));
    bytes.extend(rest);
    let seen = walked(&bytes, usize::from(cut).max(1), 1, is_final);
    assert!(seen.end >= whole as u64 && seen.next_seq >= count.unsigned_abs());
    assert_eq!((seen.next_seq, seen.end), naive::run(&bytes, SEEDS[0], is_final));
    let scan = Scan::new(&bytes[..], 0, bytes.len() as u64, CHUNK_BYTES);
    let scan = scan.expect("good arguments");
    let found = find_watermark(scan, SEEDS[0], None).expect("memory is readable");
    assert!(found.is_none_or(|watermark| watermark <= seen.watermark));
});
