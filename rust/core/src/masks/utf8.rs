//! Tables by which three look-ups tell broken UTF-8: "Validating UTF-8 In Less Than One Instruction
//! Per Byte" (Keiser and Lemire, 2020).
//!
//! Each bit is a way in which two bytes in a row can be wrong. It is set for a pair if it is set
//! for the first byte's halves and the second one's high half. The top bit says that both continue
//! a character, which is right exactly where a character of three or four bytes began two or three
//! bytes before.

/// A character begins where one should continue.
const TOO_SHORT: u8 = 1 << 0;
/// A byte continues a character that is whole.
const TOO_LONG: u8 = 1 << 1;
/// Three bytes for what fits into two.
const OVERLONG_3: u8 = 1 << 2;
/// Above U+10FFFF.
const TOO_LARGE: u8 = 1 << 3;
/// U+D800 to U+DFFF.
const SURROGATE: u8 = 1 << 4;
/// Two bytes for what fits into one.
const OVERLONG_2: u8 = 1 << 5;
/// Above U+13FFFF, or four bytes for what fits into three.
const TOO_LARGE_OR_OVERLONG_4: u8 = 1 << 6;
/// Two bytes in a row that continue a character.
const TWO_CONTINUE: u8 = 1 << 7;
/// What the low half of the first byte decides nothing about.
const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUE;

/// By the high half of the first byte.
pub(super) const BYTE_1_HIGH: [u8; 16] = [
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TWO_CONTINUE,
    TWO_CONTINUE,
    TWO_CONTINUE,
    TWO_CONTINUE,
    TOO_SHORT | OVERLONG_2,
    TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
];

/// By the low half of the first byte.
pub(super) const BYTE_1_LOW: [u8; 16] = [
    ANY | OVERLONG_3 | OVERLONG_2 | TOO_LARGE_OR_OVERLONG_4,
    ANY | OVERLONG_2,
    ANY,
    ANY,
    ANY | TOO_LARGE,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4 | SURROGATE,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    ANY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
];

/// By the high half of the second byte.
pub(super) const BYTE_2_HIGH: [u8; 16] = [
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_LONG | OVERLONG_2 | TWO_CONTINUE | OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4,
    TOO_LONG | OVERLONG_2 | TWO_CONTINUE | OVERLONG_3 | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_CONTINUE | SURROGATE | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_CONTINUE | SURROGATE | TOO_LARGE,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
];

/// Taken, without going below 0, from the byte two before, this leaves the top bit where a
/// character of three or four bytes begins there.
pub(super) const THREE_BYTES: u8 = 0xE0 - 0x80;
/// The same for the byte three before, and four bytes.
pub(super) const FOUR_BYTES: u8 = 0xF0 - 0x80;
