//! Sealing and parsing records against a bitwise CRC and a naive parser.

mod common;

use common::{SEEDS, log, naive, record};
use proptest::prelude::*;
use safepoint_core::{
    Members, Sealed, check_seal, parse_record, parse_records, reseal, seal, seal_record,
};

/// What our parser says, in the naive twin's terms.
#[allow(clippy::type_complexity, reason = "the twin's answer")]
fn parsed(
    line: &[u8],
    seed: u32,
) -> Result<Option<(u64, Option<u64>, u64, std::ops::Range<usize>)>, ()> {
    match parse_record(line, seed).ok_or(())? {
        Sealed::Undecodable => Ok(None),
        Sealed::Record(record) => {
            let at = |at: u64| usize::try_from(at).unwrap();
            let data = at(record.data.start)..at(record.data.end);
            Ok(Some((record.seq, record.more, record.d, data)))
        }
    }
}

/// Pieces from which a body that is nearly a record is put together.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let one = |choices: &'static [&'static str]| prop::sample::select(choices);
    let parts = (
        one(&[
            "{\"seq\":7",
            "{\"seq\":07",
            "{\"seq\":",
            "{\"seq\":1234567890123456789",
            "{\"s\":1",
        ]),
        one(&[",\"ts\":\"2026-12-01T04:48:28.123456Z\"", ",\"ts\":\"short\"", ""]),
        one(&[",\"type\":\"a.b\"", ",\"type\":\"\"", ",\"type\":\"a b\"", ",\"type\":\"\u{e9}\""]),
        one(&["", ",\"key\":\"k\"", ",\"key\":\"\\\"\"", ",\"key\":\"\\\\\"", ",\"key\":\"\\\""]),
        one(&[",\"data\":{}", ",\"data\":", ",\"data\":1", "", ",\"data\":\",\\\"more\\\":1"]),
        one(&["", ",\"more\":0", ",\"more\":3", ",\"more\":-1", ",\"more\":1234567890123456789"]),
        one(&[",\"d\":0", ",\"d\":00", ",\"d\":", ",\"d\":123456789012345678", ""]),
    );
    parts.prop_map(|(a, b, c, d, e, f, g)| [a, b, c, d, e, f, g].concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Every combination of good and bad members is told apart as the naive parser does.
    #[test]
    fn members_equal_the_naive_ones(body in body()) {
        let line = seal(&body, SEEDS[0]);
        prop_assert_eq!(parsed(&line, SEEDS[0]), naive::record(&line, SEEDS[0]));
    }

    /// A buffer of lines gives what its lines give, up to the first that is no record.
    #[test]
    fn buffers_equal_their_lines(log in log(), seed in prop::sample::select(&SEEDS[..])) {
        let lines = log.split_inclusive(|&byte| byte == b'\n');
        let whole = lines.take_while(|line| line.ends_with(b"\n"));
        let records = whole.map_while(|line| parse_record(line, seed).map(|sealed| (line, sealed)));
        let mut start = 0;
        let mut buffer = parse_records(&log, seed).into_iter();
        for (line, sealed) in records {
            let found = buffer.next().expect("a record for each line");
            prop_assert_eq!((found.start, found.stop), (start, start + line.len()));
            let seq = |sealed: &Sealed| sealed.record().map(|record| (record.seq, record.d));
            prop_assert_eq!(seq(&found.sealed), seq(&sealed));
            start = found.stop;
        }
        prop_assert!(buffer.next().is_none());
    }

    /// Lines of damaged logs too, whether their CRC holds or not.
    #[test]
    fn lines_equal_the_naive_ones(log in log(), seed in prop::sample::select(&SEEDS[..])) {
        for line in log.split_inclusive(|&byte| byte == b'\n') {
            prop_assert_eq!(parsed(line, seed), naive::record(line, seed));
            prop_assert_eq!(check_seal(line, seed), naive::record(line, seed).is_ok());
        }
    }

    /// What is sealed is read back, each member where it stands.
    #[test]
    fn sealed_records_are_read_back(
        seq in 0..1_000_000_000_000_000_000_i64,
        more in -1..70_000_i64,
        d in 0..1_000_000_000_000_000_000_i64,
        data in "[ -~]{1,80}",
        key in prop::option::of("[a-z0-9 ]{0,300}"),
        seed: u32,
    ) {
        let key = key.map(|key| format!("\"{key}\""));
        let (ts, kind) = (b"2026-12-01T04:48:28.123456Z", "note");
        let key_bytes = key.as_deref().map(str::as_bytes);
        let data = format!("\"{}\"", data.replace(['"', '\\'], "'"));
        let members = Members { seq, ts, kind, key: key_bytes, data: data.as_bytes(), more, d };
        let line = seal_record(&members, seed);
        let sealed = parse_record(&line, seed).expect("the CRC holds");
        let record = sealed.record().expect("the members are as they should be");
        let slice = |range: &std::ops::Range<u64>| {
            &line[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
        };
        prop_assert_eq!(record.seq, seq.unsigned_abs());
        prop_assert_eq!(record.more, u64::try_from(more).ok());
        prop_assert_eq!(record.d, d.unsigned_abs());
        prop_assert_eq!(slice(&record.data), data.as_bytes());
        prop_assert_eq!(record.key.as_ref().map(slice), key_bytes);
        prop_assert_eq!((slice(&record.ts), slice(&record.kind)), (&ts[..], kind.as_bytes()));
    }

    /// Rolling a log changes the CRC and nothing else.
    #[test]
    fn resealing_changes_the_seed_alone(seq in 0..9_u64) {
        let line = record(SEEDS[0], seq, -1);
        let moved = reseal(&line[..line.len() - 1], SEEDS[1]).expect("it has a suffix");
        prop_assert_eq!(&moved, &record(SEEDS[1], seq, -1));
        prop_assert_eq!(reseal(&moved, SEEDS[0]), Some(line));
    }
}

/// No single flipped bit of a record goes unseen.
#[test]
fn every_flipped_bit_is_seen() {
    let line = record(SEEDS[0], 5, 2);
    for bit in 0..line.len() * 8 {
        let mut damaged = line.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!check_seal(&damaged, SEEDS[0]), "bit {bit}");
    }
}

/// Without a suffix there is nothing to seal again.
#[test]
fn lines_without_a_suffix_are_not_resealed() {
    assert_eq!(reseal(b"{}\n", 1), None);
    assert_eq!(reseal(b"{\"a\":1,\"crc\":\"0000000G\"}\n", 1), None);
}
