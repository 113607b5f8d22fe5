//! The seqs that a log jumped over, so that one that comes late is told from one that comes twice.

use std::collections::BTreeMap;

/// Gaps remembered: 65,536, about 3 MB; of more, the lowest are forgotten.
pub const GAPS_MAX: usize = 65_536;

/// Disjoint gaps between seqs.
#[derive(Default)]
pub struct Gaps {
    /// End of each gap by its start; no gap is empty.
    stops: BTreeMap<u64, u64>,
}

impl Gaps {
    /// Remembers `[start, stop)`, which overlaps no gap known.
    pub fn add(&mut self, start: u64, stop: u64) {
        if start < stop {
            self.stops.insert(start, stop);
        }
        if self.stops.len() > GAPS_MAX {
            self.stops.pop_first();
        }
    }

    /// Whether `seq` lies in a gap; it does no longer.
    pub fn take(&mut self, seq: u64) -> bool {
        let Some((&start, &stop)) = self.stops.range(..=seq).next_back() else { return false };
        if seq >= stop {
            return false;
        }
        self.stops.remove(&start);
        self.add(seq + 1, stop);
        self.add(start, seq);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A late seq closes its place in the gap and no other.
    #[test]
    fn a_gap_is_split_around_a_late_seq() {
        let mut gaps = Gaps::default();
        gaps.add(3, 7);
        assert!(gaps.take(5));
        assert_eq!([2, 3, 5, 6, 7].map(|seq| gaps.take(seq)), [false, true, false, true, false]);
    }

    /// Hostile seqs must cost bounded memory; the lowest gap goes first.
    #[test]
    fn the_lowest_gap_is_forgotten() {
        let mut gaps = Gaps::default();
        for seq in 0..=GAPS_MAX as u64 {
            gaps.add(seq * 2, seq * 2 + 1);
        }
        assert!(!gaps.take(0));
        assert!(gaps.take(2));
    }
}
