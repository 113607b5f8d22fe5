//! Logs put together from fuzzed bytes, and walks over them.

use safepoint_core::{Members, Rules, Scan, Walked, seal_record, walk};

/// The seeds of two segments.
pub const SEEDS: [u32; 2] = [7, 8];

/// One record.
pub fn record(seed: u32, seq: i64, more: i64) -> Vec<u8> {
    let (ts, kind) = (b"2026-12-01T04:48:28.123456Z", "checkpoint");
    let (key, data, d) = (None, &b"{}"[..], seq / 2);
    seal_record(&Members { seq, ts, kind, key, data, more, d }, seed)
}

/// Each byte is a step in the life of the log.
pub fn log(steps: &[u8]) -> Vec<u8> {
    let (mut log, mut seq) = (Vec::new(), 0_i64);
    for &step in steps {
        match step % 16 {
            0..6 => log.extend(record(SEEDS[0], seq, -1)),
            6 => log.extend(record(SEEDS[0], seq, i64::from(step / 64))),
            7 => log.extend(record(SEEDS[1], seq, -1)),
            8 => log.truncate(log.len().saturating_sub(usize::from(step / 16))),
            9 => seq += i64::from(step / 16),
            10 => seq = (seq - i64::from(step / 16)).max(0),
            11 => log.push(0),
            12 => log.push(b'\n'),
            _ => log.push(step),
        }
        seq += i64::from(step % 16 < 7);
    }
    log
}

/// A walk that looks at everything.
pub fn walked(bytes: &[u8], chunk: usize, threads: usize, is_final: bool) -> Walked {
    let other_seeds = &SEEDS[1..];
    let rules = Rules { seed: SEEDS[0], seq: 0, is_final, check_data: true, other_seeds };
    let scan = Scan::new(bytes, 0, bytes.len() as u64, chunk).expect("good arguments");
    walk(scan, &rules, threads, None).expect("memory is readable")
}
