//! One walk over a foreign log: how many objects, where the tail begins, what is damaged.

use std::mem::take;

use crate::classify::{Event, Object};
use crate::error::Result;
use crate::finding::{Finding, Findings, Kind, Mark};
use crate::foreign::{BOM, Head, Step, each_line, head};
use crate::gaps::Gaps;
use crate::parallel::in_order;
use crate::source::{Scan, Source, Tick};

/// What [`inspect_jsonl`] says.
pub struct Inspection {
    /// Complete objects.
    pub records: u64,
    /// The end of the last object, 0 without any.
    pub tail: u64,
    /// The highest top-level `seq`.
    pub last_seq: Option<u64>,
    /// What is wrong, in file order.
    pub findings: Vec<Finding>,
    /// Findings beyond those kept.
    pub findings_omitted: u64,
}

/// The state of a walk.
#[derive(Default)]
struct Inspector {
    /// Objects so far.
    records: u64,
    /// The end of the last one.
    tail: u64,
    /// The highest seq so far.
    last_seq: Option<u64>,
    /// The lowest seq so far, meaningless before any.
    base: u64,
    /// The seqs that were jumped over.
    gaps: Gaps,
    /// The last damage behind the newest object that has a seq.
    damage: Option<Mark>,
    /// The finding `glued` of the current line: it stands before each of its pieces.
    glued: Option<Mark>,
    /// What was found so far.
    findings: Findings,
}

impl Inspector {
    /// Takes what comes next.
    fn take(&mut self, seen: Seen) {
        match seen {
            Seen::Finding(finding) => self.finding(finding),
            Seen::Object(object) => self.object(&object),
            Seen::LineEnd => self.glued = None,
        }
    }

    /// Takes a finding. `unterminated` is about a whole object and swallowed nothing before it.
    fn finding(&mut self, finding: Finding) {
        let mark = self.findings.add(finding);
        match finding.kind {
            Kind::Blank | Kind::Unterminated => {}
            Kind::Glued => (self.glued, self.damage) = (Some(mark), Some(mark)),
            _ => self.damage = Some(mark),
        }
    }

    /// Takes an object.
    fn object(&mut self, object: &Object) {
        self.records += 1;
        self.tail = object.end();
        if let Some(seq) = object.seq {
            let damage = self.glued.or(self.damage);
            self.seq(seq, object, damage);
            self.damage = None;
        }
    }

    /// Takes the seq of an object; `damage` stands before it and behind the one before.
    fn seq(&mut self, seq: u64, object: &Object, damage: Option<Mark>) {
        let Some(last) = self.last_seq else {
            (self.last_seq, self.base) = (Some(seq), seq);
            return;
        };
        let expected = last + 1;
        if seq > expected {
            let mark = damage.unwrap_or_else(|| self.report(Kind::SeqGap, seq, object));
            self.findings.set_missing(mark, expected, seq);
            self.gaps.add(expected, seq);
        } else if seq < self.base {
            self.report(Kind::SeqOrder, seq, object);
            self.gaps.add(seq + 1, self.base);
            self.base = seq;
        } else if seq < expected {
            let late = self.gaps.take(seq);
            self.report(if late { Kind::SeqOrder } else { Kind::SeqRepeat }, seq, object);
        }
        self.last_seq = Some(last.max(seq));
    }

    /// Adds a finding about a seq.
    fn report(&mut self, kind: Kind, seq: u64, object: &Object) -> Mark {
        let finding = Finding::new(kind, object.offset, object.length);
        self.findings.add(Finding { seq: Some(seq), ..finding })
    }

    /// What the walk says.
    fn finish(self) -> Inspection {
        let Inspector { records, tail, last_seq, findings, .. } = self;
        let (findings, findings_omitted) = findings.into_parts();
        Inspection { records, tail, last_seq, findings, findings_omitted }
    }
}

/// What a line of a foreign log holds, in order.
enum Seen {
    /// A finding.
    Finding(Finding),
    /// A complete object.
    Object(Object),
    /// The end of a line with a finding.
    LineEnd,
}

/// Gives what the lines of a range hold.
fn each_seen<S: Source + ?Sized>(
    buf: &mut Vec<u8>,
    scan: Scan<'_, S>,
    tick: Option<Tick<'_>>,
    give: &mut dyn FnMut(Seen),
) -> Result<()> {
    let mut found = false;
    each_line(buf, scan, tick, &|| (), |step| {
        match step {
            Step::Event(Event::Object(object, ())) => give(Seen::Object(object)),
            Step::Event(Event::Finding(finding)) => {
                found = true;
                give(Seen::Finding(finding));
            }
            Step::LineEnd(_) if take(&mut found) => give(Seen::LineEnd),
            Step::LineEnd(_) => {}
        }
        true
    })
}

/// Walks a foreign log by up to `threads` threads; the range of `scan` starts at 0.
pub fn inspect_jsonl<S: Source + Sync + ?Sized>(
    scan: Scan<'_, S>,
    threads: usize,
    mut tick: Option<Tick<'_>>,
) -> Result<Inspection> {
    let mut inspector = Inspector::default();
    let Head { first, document } = head(&scan)?;
    if first > 0 {
        inspector.findings.add(Finding::new(Kind::Bom, 0, BOM.len() as u64));
    }
    if let Some(offset) = document {
        if offset > first {
            inspector.findings.add(Finding::new(Kind::Blank, first, offset - first));
        }
        inspector.findings.add(Finding::new(Kind::NotJsonl, offset, scan.stop - offset));
    } else {
        let mut shifted = tick.as_mut().map(|tick| |done: u64| tick(done + first));
        let tick = shifted.as_mut().map(|tick| tick as Tick<'_>);
        let lines = scan.range(first, scan.stop);
        in_order(lines, threads, tick, &each_seen, &mut |seen| inspector.take(seen))?;
        return Ok(inspector.finish());
    }
    if let Some(tick) = tick
        && !tick(scan.stop)
    {
        return Err(crate::error::Error::Stopped);
    }
    Ok(inspector.finish())
}
