//! Findings: damage is a value with a kind, an offset and a length, never an error.

/// Findings kept in one report: 10,000, more than anybody reads; the rest are counted.
pub const FINDINGS_MAX: usize = 10_000;

/// Declares the kinds and their words together, so that neither can lack the other.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal,)*) => {
        /// What is wrong, or worth saying.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$kind => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// A run of NULs at either end of a line.
    Nul = "nul",
    /// The last line is complete but lacks its newline.
    Unterminated = "unterminated",
    /// The last line is cut and holds no complete object.
    Torn = "torn",
    /// A line longer than `LINE_BYTES_MAX`.
    TooLong = "too_long",
    /// Complete objects inside a line that is not one.
    Glued = "glued",
    /// Not valid UTF-8.
    NotUtf8 = "not_utf8",
    /// Nested too deep.
    TooDeep = "too_deep",
    /// Not well-formed.
    NotJson = "not_json",
    /// Well-formed, but no object.
    NotObject = "not_object",
    /// Well-formed, but the CRC does not hold.
    Crc = "crc",
    /// A record or header of another segment.
    Foreign = "foreign",
    /// A batch that is not whole.
    BatchCut = "batch_cut",
    /// A seq seen before.
    SeqRepeat = "seq_repeat",
    /// A seq that falls into an earlier gap.
    SeqOrder = "seq_order",
    /// A jump of the seq with no damage between.
    SeqGap = "seq_gap",
    /// The CRC holds, but the record or its data cannot be decoded.
    Undecodable = "undecodable",
    /// One JSON document over many lines.
    NotJsonl = "not_jsonl",
    /// A byte order mark at offset 0.
    Bom = "bom",
    /// Lines of white space.
    Blank = "blank",
}

/// One finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// The seq that it is about.
    pub seq: Option<u64>,
    /// The seqs `[start, stop)` that the damage swallowed.
    pub missing: Option<(u64, u64)>,
}

impl Finding {
    /// A finding about bytes alone.
    pub fn new(kind: Kind, offset: u64, length: u64) -> Self {
        Finding { kind, offset, length, seq: None, missing: None }
    }
}

/// A finding that was added, kept or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(Option<usize>);

/// The findings of one scan, in the order in which they were made.
#[derive(Default)]
pub struct Findings {
    /// At most [`FINDINGS_MAX`] of them, the first ones.
    kept: Vec<Finding>,
    /// How many were made beyond those.
    omitted: u64,
    /// The newest finding and its end, if it is `blank`.
    blank: Option<(Mark, u64)>,
}

impl Findings {
    /// Adds a finding; a `blank` one that directly follows another becomes part of it.
    pub fn add(&mut self, finding: Finding) -> Mark {
        let end = finding.offset + finding.length;
        let is_blank = finding.kind == Kind::Blank;
        match self.blank {
            Some((mark, blank_end)) if is_blank && blank_end == finding.offset => {
                if let Some(blank) = self.at(mark) {
                    blank.length += finding.length;
                }
                self.blank = Some((mark, end));
                mark
            }
            _ => {
                let mark = self.push(finding);
                self.blank = is_blank.then_some((mark, end));
                mark
            }
        }
    }

    /// Says which seqs `[start, stop)` the damage swallowed.
    pub fn set_missing(&mut self, mark: Mark, start: u64, stop: u64) {
        if let Some(finding) = self.at(mark) {
            finding.missing = Some((start, stop));
        }
    }

    /// The findings that were kept, and how many were not.
    pub fn into_parts(self) -> (Vec<Finding>, u64) {
        (self.kept, self.omitted)
    }

    /// A finding that was kept.
    fn at(&mut self, mark: Mark) -> Option<&mut Finding> {
        mark.0.and_then(|index| self.kept.get_mut(index))
    }

    /// Keeps or counts a finding.
    fn push(&mut self, finding: Finding) -> Mark {
        if self.kept.len() == FINDINGS_MAX {
            self.omitted += 1;
            return Mark(None);
        }
        self.kept.push(finding);
        Mark(Some(self.kept.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hostile log must cost bounded memory, and what was dropped must still be counted.
    #[test]
    fn findings_beyond_the_maximum_are_counted() {
        let mut findings = Findings::default();
        for offset in 0..FINDINGS_MAX as u64 + 5 {
            findings.add(Finding::new(Kind::Crc, offset, 1));
        }
        let (kept, omitted) = findings.into_parts();
        assert_eq!((kept.len(), omitted), (FINDINGS_MAX, 5));
    }

    /// A thousand blank lines in a row are one piece of news, two runs are two.
    #[test]
    fn adjacent_blanks_merge() {
        let mut findings = Findings::default();
        for offset in [0, 1, 2, 9] {
            findings.add(Finding::new(Kind::Blank, offset, 1));
        }
        let (kept, _) = findings.into_parts();
        let spans: Vec<_> = kept.iter().map(|f| (f.offset, f.length)).collect();
        assert_eq!(spans, [(0, 3), (9, 1)]);
    }
}
