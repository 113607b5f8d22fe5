//! The run of whole batches from one seq on, and what is wrong with the records behind it.

use crate::finding::{Finding, Findings, Kind, Mark};
use crate::gaps::Gaps;
use crate::record::{Record, Sealed};

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its seq.
    pub seq: u64,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

/// What a walk says.
pub struct Walked {
    /// The seq behind the run.
    pub next_seq: u64,
    /// The offset at which the run ends.
    pub end: u64,
    /// The highest `d` of any proven record.
    pub watermark: u64,
    /// The newest checkpoint of the run.
    pub checkpoint: Option<Place>,
    /// The newest record of the run.
    pub last: Option<Place>,
    /// Proven records behind the run.
    pub records_behind: u64,
    /// What is wrong, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// Findings beyond those kept.
    pub findings_omitted: u64,
}

/// A batch whose last record was not seen yet.
struct Batch {
    /// The seq of its first record.
    seq: u64,
    /// The first byte of that record.
    offset: u64,
    /// The end of its newest record.
    end: u64,
    /// How many records must follow.
    left: u64,
    /// How many were seen.
    records: u64,
    /// Its newest checkpoint.
    checkpoint: Option<Place>,
}

impl Batch {
    /// A batch that begins at `place`.
    fn new(place: Place) -> Self {
        let Place { seq, offset, .. } = place;
        Batch { seq, offset, end: offset, left: 0, records: 0, checkpoint: None }
    }

    /// Takes its next record, which `left` others follow.
    fn take(&mut self, place: Place, entry: Entry, left: u64) {
        self.end = place.offset + place.length;
        self.left = left;
        self.records += 1;
        if entry.is_checkpoint {
            self.checkpoint = Some(place);
        }
    }
}

/// What a run needs to know of a record.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Its seq; `None` for a sealed line whose members are not as they should be.
    seq: Option<u64>,
    /// Its watermark.
    d: u64,
    /// How many records of its batch follow.
    more: Option<u64>,
    /// Whether it is a checkpoint.
    is_checkpoint: bool,
    /// Its first byte.
    offset: u64,
    /// Its bytes.
    length: u64,
}

impl Entry {
    /// What a CRC proved at `offset`.
    pub(crate) fn new(sealed: &Sealed, offset: u64, length: u64) -> Self {
        match sealed.record() {
            Some(&Record { seq, d, more, is_checkpoint, .. }) => {
                Entry { seq: Some(seq), d, more, is_checkpoint, offset, length }
            }
            None => Entry { seq: None, d: 0, more: None, is_checkpoint: false, offset, length },
        }
    }
}

/// What a line brings, in order.
pub(crate) enum Step {
    /// A record, or a proven piece of a line that has broken the run off.
    Record(Entry),
    /// A finding that ends nothing.
    Note(Finding),
    /// A damaged line begins: the run ends.
    BreakOff,
    /// A finding about the damaged line.
    Damage(Finding),
}

/// The state of a walk.
pub(crate) struct Run {
    /// The seq expected.
    next: u64,
    /// Whether the run may still grow.
    running: bool,
    /// The batch that is open.
    batch: Option<Batch>,
    /// The last damage behind the newest proven record.
    damage: Option<Mark>,
    /// The seqs that were jumped over.
    gaps: Gaps,
    /// What was found so far.
    findings: Findings,
    /// The run so far; its findings are empty.
    walked: Walked,
}

impl Run {
    /// An empty run that begins at `offset` with `seq`.
    pub(crate) fn new(offset: u64, seq: u64) -> Self {
        let walked = Walked {
            next_seq: seq,
            end: offset,
            watermark: 0,
            checkpoint: None,
            last: None,
            records_behind: 0,
            findings: Vec::new(),
            findings_omitted: 0,
        };
        Run {
            next: seq,
            running: true,
            batch: None,
            damage: None,
            gaps: Gaps::default(),
            findings: Findings::default(),
            walked,
        }
    }

    /// Takes what comes next.
    pub(crate) fn take(&mut self, step: Step) {
        match step {
            Step::Record(entry) => self.record(entry),
            Step::Note(finding) => {
                self.findings.add(finding);
            }
            Step::BreakOff => self.break_off(),
            Step::Damage(finding) => self.damage(finding),
        }
    }

    /// Ends the run.
    fn break_off(&mut self) {
        self.cut_batch();
        self.running = false;
    }

    /// Adds a finding about the damaged line.
    fn damage(&mut self, finding: Finding) {
        let mark = self.findings.add(finding);
        if finding.kind != Kind::Blank {
            self.damage = Some(mark);
        }
    }

    /// Takes a record, or a proven piece of a line that has broken the run off.
    fn record(&mut self, entry: Entry) {
        let seq = entry.seq.unwrap_or(self.next);
        self.walked.watermark = self.walked.watermark.max(entry.d.min(seq));
        let place = Place { seq, offset: entry.offset, length: entry.length };
        if seq == self.next {
            self.take_next(place, entry);
        } else {
            self.take_other(place, entry);
        }
        if entry.seq.is_none() {
            self.report(Kind::Undecodable, place);
        }
        self.damage = None;
    }

    /// Takes the record that was expected.
    fn take_next(&mut self, place: Place, entry: Entry) {
        let continues = |batch: &Batch| entry.more.is_some_and(|more| more + 1 == batch.left);
        if self.batch.as_ref().is_some_and(|batch| !continues(batch)) {
            self.cut_batch();
        }
        let open = self.batch.take();
        let is_lone_end = open.is_none() && entry.more == Some(0);
        let mut batch = open.unwrap_or_else(|| Batch::new(place));
        batch.take(place, entry, entry.more.unwrap_or(0));
        self.next = place.seq + 1;
        self.walked.records_behind += u64::from(!self.running);
        if batch.left > 0 {
            self.batch = Some(batch);
        } else if is_lone_end && (self.running || self.damage.is_none()) {
            self.cut(&batch);
        } else if self.running {
            self.walked.next_seq = self.next;
            self.walked.end = batch.end;
            self.walked.last = Some(place);
            self.walked.checkpoint = batch.checkpoint.or(self.walked.checkpoint);
        }
    }

    /// Takes a record that jumps ahead or comes late.
    fn take_other(&mut self, place: Place, entry: Entry) {
        self.break_off();
        self.walked.records_behind += 1;
        if place.seq < self.next {
            let late = self.gaps.take(place.seq);
            self.report(if late { Kind::SeqOrder } else { Kind::SeqRepeat }, place);
            return;
        }
        let mark = self.damage.unwrap_or_else(|| self.report(Kind::SeqGap, place));
        self.findings.set_missing(mark, self.next, place.seq);
        self.gaps.add(self.next, place.seq);
        self.next = place.seq + 1;
        if let Some(left @ 1..) = entry.more {
            let mut batch = Batch::new(place);
            batch.take(place, entry, left);
            self.batch = Some(batch);
        }
    }

    /// Reports an open batch: what follows is not its next record.
    fn cut_batch(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.cut(&batch);
        }
    }

    /// Reports a batch that is not whole, and ends the run.
    fn cut(&mut self, batch: &Batch) {
        let Batch { seq, offset, end, records, .. } = *batch;
        self.report(Kind::BatchCut, Place { seq, offset, length: end - offset });
        self.walked.records_behind += if self.running { records } else { 0 };
        self.running = false;
    }

    /// Adds a finding about a record.
    fn report(&mut self, kind: Kind, place: Place) -> Mark {
        let finding = Finding::new(kind, place.offset, place.length);
        self.findings.add(Finding { seq: Some(place.seq), ..finding })
    }

    /// What the walk says.
    pub(crate) fn finish(mut self) -> Walked {
        self.cut_batch();
        let (findings, findings_omitted) = self.findings.into_parts();
        Walked { findings, findings_omitted, ..self.walked }
    }
}
