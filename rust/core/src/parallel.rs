//! Several threads for one scan: a range is cut at line starts, the pieces are looked at side by
//! side, and what was seen is taken in order, so that no answer depends on the number of threads.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lines::LINE_BYTES_MAX;
use crate::source::{Pace, Scan, Source, TICK_BYTES, Tick};
use crate::text::{Span, find_byte};

/// Chunks of a piece: eight, so that little of a log is read twice to find where its pieces end.
const PIECE_CHUNKS: u64 = 8;

/// Things seen that are kept until it is their turn, by all threads together: 65,536, about 5 MB.
/// Two threads may keep as many of a piece as it has lines of 128 bytes. A piece that holds more is
/// looked at again when it is its turn, and those that follow are smaller.
const SEEN_MAX: usize = 65_536;

/// More threads than this are not used: 64, where a disk has long been the limit.
const THREADS_MAX: usize = 64;

/// How long the calling thread waits for others before it looks whether its caller has had enough.
const WAIT: Duration = Duration::from_millis(50);

/// Pieces that are claimed and not taken, for each thread, at most.
const AHEAD_MAX: usize = 2;

/// Bytes of one read in search of a line's end.
const LOOK_BYTES: usize = 16 * 1024;

/// What looks at the lines of a piece, in a buffer that it may keep for the next one.
pub(crate) trait Look<S: Source + ?Sized, T>:
    Fn(&mut Vec<u8>, Scan<'_, S>, Option<Tick<'_>>, &mut dyn FnMut(T)) -> Result<()> + Sync
{
}

impl<S, T, F> Look<S, T> for F
where
    S: Source + ?Sized,
    F: Fn(&mut Vec<u8>, Scan<'_, S>, Option<Tick<'_>>, &mut dyn FnMut(T)) -> Result<()> + Sync,
{
}

/// Looks at the lines of `scan`, which starts at one, and hands what `look` sees to `take`, in
/// order.
pub(crate) fn in_order<S: Source + Sync + ?Sized, T: Send>(
    scan: Scan<'_, S>,
    threads: usize,
    tick: Option<Tick<'_>>,
    look: &impl Look<S, T>,
    take: &mut dyn FnMut(T),
) -> Result<()> {
    let piece_bytes = PIECE_CHUNKS.saturating_mul(scan.chunk_bytes as u64);
    let pieces = (scan.stop - scan.start).div_ceil(piece_bytes);
    let threads = threads.min(THREADS_MAX).min(usize::try_from(pieces).unwrap_or(usize::MAX));
    if threads <= 1 {
        return look(&mut Vec::new(), scan, tick, take);
    }
    let claims = Claims::new(scan.start, piece_bytes, AHEAD_MAX * threads);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let _stop = StopOnDrop(&claims);
        for _ in 1..threads {
            let (claims, sender) = (&claims, sender.clone());
            let spawned = thread::Builder::new()
                .spawn_scoped(scope, move || work(scan, claims, look, &sender));
            if spawned.is_err() {
                // The system has no thread to give: fewer will do, and the caller's own is one.
                break;
            }
        }
        drop(sender);
        let taker = Taker { scan, look, take, claims: &claims, early: BTreeMap::new(), next: 0 };
        taker.run(&receiver, &mut Pace::new(tick))
    })
}

/// A range of lines and its place in the order.
struct Piece {
    number: usize,
    start: u64,
    stop: u64,
}

/// What a thread says of a piece: what it saw, `None` if that was too much to keep.
type Answer<T> = (Piece, Result<Option<Vec<T>>>);

/// Looks at pieces until there are none.
fn work<S: Source + ?Sized, T>(
    scan: Scan<'_, S>,
    claims: &Claims,
    look: &impl Look<S, T>,
    answers: &Sender<Answer<T>>,
) {
    let _stop = StopOnPanic(claims);
    let mut buf = Vec::new();
    while let Some(claimed) = claims.wait(scan) {
        let mut goes_on = |_| !claims.lock().stopped;
        let answer = answer(scan, claimed, look, &mut buf, claims.seen_max(), &mut goes_on);
        if answers.send(answer).is_err() {
            break;
        }
    }
}

/// Looks at a piece, and keeps what is seen.
fn answer<S: Source + ?Sized, T>(
    scan: Scan<'_, S>,
    (piece, found): Claimed,
    look: &impl Look<S, T>,
    buf: &mut Vec<u8>,
    seen_max: usize,
    tick: Tick<'_>,
) -> Answer<T> {
    let (mut seen, mut fits) = (Vec::new(), true);
    let looked = found.and_then(|()| {
        look(buf, scan.range(piece.start, piece.stop), Some(tick), &mut |one| {
            fits = seen.len() < seen_max;
            if fits {
                seen.push(one);
            }
        })
    });
    (piece, looked.map(|()| fits.then_some(seen)))
}

/// The caller's own thread: it looks at pieces too, and takes all answers in order.
struct Taker<'a, S: Source + ?Sized, T, L> {
    scan: Scan<'a, S>,
    look: &'a L,
    take: &'a mut dyn FnMut(T),
    claims: &'a Claims,
    /// Answers whose turn has not come.
    early: BTreeMap<usize, Answer<T>>,
    /// The number of the piece whose turn it is.
    next: usize,
}

impl<S: Source + ?Sized, T, L: Look<S, T>> Taker<'_, S, T, L> {
    /// Works until everything is taken.
    fn run(mut self, answers: &Receiver<Answer<T>>, pace: &mut Pace<'_>) -> Result<()> {
        let mut buf = Vec::new();
        loop {
            let come = match self.claims.claim(self.scan) {
                Next::Piece(claimed) => {
                    let seen_max = self.claims.seen_max();
                    let mut hear = |done| done < TICK_BYTES || pace.hear();
                    Some(answer(self.scan, claimed, self.look, &mut buf, seen_max, &mut hear))
                }
                Next::TooFar | Next::Nothing => match answers.recv_timeout(WAIT) {
                    Ok(answer) => Some(answer),
                    Err(RecvTimeoutError::Timeout) if pace.hear() => None,
                    Err(RecvTimeoutError::Timeout) => return Err(Error::Stopped),
                    Err(RecvTimeoutError::Disconnected) => break,
                },
            };
            if let Some((_, Err(Error::Stopped))) = come {
                // Nobody waits for its turn.
                return Err(Error::Stopped);
            }
            for (piece, answer) in come.into_iter().chain(answers.try_iter()) {
                self.early.insert(piece.number, (piece, answer));
            }
            while let Some((piece, answer)) = self.early.remove(&self.next) {
                self.take(&piece, answer?, &mut buf, pace)?;
                pace.read(piece.stop - piece.start)?;
            }
        }
        pace.finish()
    }

    /// Takes the answer whose turn it is.
    fn take(
        &mut self,
        piece: &Piece,
        seen: Option<Vec<T>>,
        buf: &mut Vec<u8>,
        pace: &mut Pace<'_>,
    ) -> Result<()> {
        match seen {
            Some(seen) => seen.into_iter().for_each(&mut *self.take),
            None => {
                self.claims.halve((self.scan.chunk_bytes as u64).min(LOOK_BYTES as u64));
                let mut hear = |done| done < TICK_BYTES || pace.hear();
                let range = self.scan.range(piece.start, piece.stop);
                (self.look)(buf, range, Some(&mut hear), self.take)?;
            }
        }
        self.next += 1;
        self.claims.taken();
        Ok(())
    }
}

/// A piece, and whether its end could be found.
type Claimed = (Piece, Result<()>);

/// What [`Claims`] has to give.
enum Next {
    /// A piece.
    Piece(Claimed),
    /// Nothing now: too many pieces wait for one before them.
    TooFar,
    /// Nothing more.
    Nothing,
}

/// Which pieces there are still to look at.
struct Claims {
    /// Pieces that may be claimed and not taken.
    ahead_max: usize,
    /// What changes.
    state: Mutex<ClaimsState>,
    /// Told when a piece is taken, or nothing is to be done any more.
    changed: Condvar,
}

/// What changes in [`Claims`].
struct ClaimsState {
    /// Where the next piece starts.
    next: u64,
    /// Its bytes, at least: it goes on to the end of its last line.
    piece_bytes: u64,
    /// Pieces claimed.
    claimed: usize,
    /// Pieces taken.
    taken: usize,
    /// Whether nothing more is to be done.
    stopped: bool,
}

impl Claims {
    /// Nothing is claimed yet.
    fn new(start: u64, piece_bytes: u64, ahead_max: usize) -> Self {
        let state = ClaimsState { next: start, piece_bytes, claimed: 0, taken: 0, stopped: false };
        Claims { ahead_max, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next piece, if there is one now.
    fn claim<S: Source + ?Sized>(&self, scan: Scan<'_, S>) -> Next {
        let mut state = self.lock();
        if state.stopped || state.next >= scan.stop {
            return Next::Nothing;
        }
        if self.is_too_far(&state) {
            return Next::TooFar;
        }
        let (number, start) = (state.claimed, state.next);
        let found = line_start(scan, start.saturating_add(state.piece_bytes));
        let stop = *found.as_ref().unwrap_or(&scan.stop);
        (state.next, state.claimed) = (stop, number + 1);
        Next::Piece((Piece { number, start, stop }, found.map(drop)))
    }

    /// The next piece, once there is one; `None` when there will be none.
    fn wait<S: Source + ?Sized>(&self, scan: Scan<'_, S>) -> Option<Claimed> {
        loop {
            match self.claim(scan) {
                Next::Piece(claimed) => return Some(claimed),
                Next::Nothing => return None,
                Next::TooFar => {
                    let is_far = |state: &mut ClaimsState| self.is_too_far(state) && !state.stopped;
                    let waited = self.changed.wait_while(self.lock(), is_far);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
    }

    /// Whether too many pieces are claimed and not taken.
    fn is_too_far(&self, state: &ClaimsState) -> bool {
        state.claimed - state.taken >= self.ahead_max
    }

    /// How many things seen in a piece may be kept.
    fn seen_max(&self) -> usize {
        SEEN_MAX / self.ahead_max
    }

    /// One more piece is taken.
    fn taken(&self) {
        self.lock().taken += 1;
        self.changed.notify_all();
    }

    /// Makes the next pieces half as large, but not smaller than `least_bytes`.
    fn halve(&self, least_bytes: u64) {
        let mut state = self.lock();
        state.piece_bytes = (state.piece_bytes / 2).max(least_bytes);
    }

    /// Nothing more is to be done.
    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ClaimsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work of all threads when the answers are no longer wanted.
struct StopOnDrop<'c>(&'c Claims);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Ends the work of all threads when one of them panics: nobody would take the answers behind its.
struct StopOnPanic<'c>(&'c Claims);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// The first line start at or behind `at`. Behind a line that is too long nobody looks for one:
/// what is left of the range is one thread's work.
fn line_start<S: Source + ?Sized>(scan: Scan<'_, S>, at: u64) -> Result<u64> {
    if at >= scan.stop {
        return Ok(scan.stop);
    }
    let mut from = at - 1;
    let far = scan.stop.min(at.saturating_add(LINE_BYTES_MAX));
    for bytes in [LOOK_BYTES as u64, LINE_BYTES_MAX] {
        let stop = far.min(from.saturating_add(bytes));
        let chunk_bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(scan.chunk_bytes);
        let mut part = Span::new(Scan { chunk_bytes, ..scan.range(from, stop) });
        if let Some(newline) = find_byte(&mut part, 0..stop - from, b'\n')? {
            return Ok(from + newline + 1);
        }
        from = stop;
    }
    Ok(scan.stop)
}
