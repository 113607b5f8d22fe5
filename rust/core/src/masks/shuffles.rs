//! Tables of 16 bytes for shuffles, which look a byte up by its low four bits.

/// A byte with 0x20 added is the same as its entry if it is an operator.
pub(super) const OPERATORS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];
/// A byte is the same as its entry if it is white space.
pub(super) const SPACES: [u8; 16] = [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];
/// What may follow a `\`, by low half: a bit for each high half (2, 5, 6, 7) that it has.
pub(super) const ESCAPABLE_LOW: [u8; 16] = [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];
/// The bit of each high half.
pub(super) const ESCAPABLE_HIGH: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
