//! Framing against `split`, in both directions and at every chunk size.

mod common;

use common::{CHUNKS, naive, scan, soup};
use proptest::prelude::*;
use safepoint_core::{Error, Line, Scan, lines_backward, lines_forward};

/// A line as the naive twin gives it.
fn plain(line: &Line) -> (u64, u64, bool) {
    (line.offset, line.length, line.terminated)
}

proptest! {
    /// Whatever the bytes and the chunk, both readers give the lines that `split` gives.
    #[test]
    fn both_directions_equal_split(bytes in soup(40)) {
        let mut expected = naive::lines(&bytes);
        for chunk in CHUNKS {
            let forward = lines_forward(scan(&bytes, chunk), usize::MAX).unwrap();
            prop_assert_eq!(forward.iter().map(plain).collect::<Vec<_>>(), &expected[..]);
        }
        expected.reverse();
        for chunk in CHUNKS {
            let backward = lines_backward(scan(&bytes, chunk), usize::MAX).unwrap();
            prop_assert_eq!(backward.iter().map(plain).collect::<Vec<_>>(), &expected[..]);
        }
    }

    /// A caller who takes one line at a time and goes on sees the same lines.
    #[test]
    fn going_on_loses_nothing(bytes in soup(20)) {
        let (mut at, mut lines) = (0, Vec::new());
        let stop = bytes.len() as u64;
        while at < stop {
            let rest = Scan::new(&bytes[..], at, stop, 3).unwrap();
            let next = lines_forward(rest, 1).unwrap()[0];
            lines.push(plain(&next));
            at = next.end();
        }
        prop_assert_eq!(lines, naive::lines(&bytes));
    }
}

/// A file that ends before `stop` ends there: callers ask with the size of a moment ago.
#[test]
fn a_stop_behind_the_end_is_the_end() {
    let bytes = &b"a\nb"[..];
    let scan = Scan::new(bytes, 0, 99, 2).unwrap();
    let lines = lines_backward(scan, 9).unwrap();
    assert_eq!(lines.iter().map(plain).collect::<Vec<_>>(), [(2, 1, false), (0, 2, true)]);
}

/// Arguments out of range are refused by name instead of giving an empty answer.
#[test]
fn bad_arguments_are_refused() {
    let bytes = &b"a\n"[..];
    assert!(matches!(Scan::new(bytes, 0, 2, 0), Err(Error::Argument(_))));
    assert!(matches!(Scan::new(bytes, 2, 1, 1), Err(Error::Argument(_))));
    assert!(matches!(lines_forward(scan(bytes, 1), 0), Err(Error::Argument(_))));
}
