//! Numbers in decimal, without an allocation.

/// Bytes of the longest: a sign and 19 digits.
const ROOM_BYTES: usize = 20;
const DIGITS: &[u8; 10] = b"0123456789";

/// A number in decimal, written from the end of its room.
pub(crate) struct Decimal {
    room: [u8; ROOM_BYTES],
    /// Where the first digit stands, the end of the room if there is none.
    start: usize,
}

impl Decimal {
    /// No digits.
    pub(crate) fn none() -> Self {
        Decimal { room: [0; ROOM_BYTES], start: ROOM_BYTES }
    }

    /// The digits of `number`, behind a sign if it is negative.
    pub(crate) fn new(number: i64) -> Self {
        let mut decimal = Self::none();
        let mut rest = number.unsigned_abs();
        loop {
            decimal.push(DIGITS[(rest % 10) as usize]);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            decimal.push(b'-');
        }
        decimal
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.room[self.start] = byte;
    }

    /// What is to be written.
    pub(crate) fn digits(&self) -> &[u8] {
        &self.room[self.start..]
    }
}
