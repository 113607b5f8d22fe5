//! Record members against a naive parser, on the input as it is and sealed so that the CRC holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::{Sealed, parse_record, seal};

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

/// The seed of every CRC here.
const SEED: u32 = 7;

fn compare(line: &[u8]) {
    let at = |at: u64| usize::try_from(at).expect("a position in memory");
    let ours = parse_record(line, SEED).ok_or(()).map(|sealed| match sealed {
        Sealed::Undecodable => None,
        Sealed::Record(record) => {
            Some((record.seq, record.more, record.d, at(record.data.start)..at(record.data.end)))
        }
    });
    assert_eq!(ours, naive::record(line, SEED));
}

fuzz_target!(|input: &[u8]| {
    compare(input);
    compare(&seal(input, SEED));
    let head = b"{\"seq\":7,\"ts\":\"2026-12-01T04:48:28.123456Z\",\"type\":\"note\"";
    compare(&seal(&[head, input].concat(), SEED));
    compare(&seal(&[head, input, b",\"d\":3"].concat(), SEED));
});
