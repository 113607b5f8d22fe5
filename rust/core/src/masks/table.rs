//! By table, on any processor.

use super::utf8::{BYTE_1_HIGH, BYTE_1_LOW, BYTE_2_HIGH, FOUR_BYTES, THREE_BYTES};
use super::{BEFORE_BYTES, BLOCK_BYTES, Masks, Vector, WINDOW_BYTES, is_special};

/// Any processor will do.
#[derive(Clone, Copy)]
pub(super) struct Table;

impl Vector for Table {
    #[inline]
    fn masks(self, window: &[u8; WINDOW_BYTES]) -> Masks {
        masks(window)
    }

    #[inline]
    fn is_plain(self, block: &[u8; BLOCK_BYTES]) -> bool {
        // No early end, so that the compiler looks at many bytes at once.
        block.iter().fold(true, |plain, &byte| plain & !is_special(byte))
    }

    #[inline]
    fn parity(self, bits: u64) -> u64 {
        [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, shift| bits ^ bits << shift)
    }
}

/// The eight answers about each byte, a bit each, in the order of the fields of
/// [`Masks`] but `broken`.
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class(byte.to_le_bytes()[0]);
        byte += 1;
    }
    classes
}

const fn class(byte: u8) -> u8 {
    (byte == b'"') as u8
        | ((byte == b'\\') as u8) << 1
        | ((byte < 0x20) as u8) << 2
        | (matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',' | 0x0C | 0x1A) as u8) << 3
        | (matches!(byte, b' ' | b'\t' | b'\n' | b'\r') as u8) << 4
        | (matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u') as u8) << 5
        | ((byte == b'u') as u8) << 6
}

/// The masks of one block, eight bytes at a time: their classes, rows of a matrix of bits, are
/// turned into columns.
fn masks(window: &[u8; WINDOW_BYTES]) -> Masks {
    let block = &window[BEFORE_BYTES..];
    let mut words = [0_u64; 8];
    for (place, bytes) in block.chunks_exact(8).enumerate() {
        let class = |i: usize| CLASSES[usize::from(bytes[i])];
        let rows = u64::from_le_bytes(std::array::from_fn(class));
        for (word, column) in words.iter_mut().zip(transposed(rows).to_le_bytes()) {
            *word |= u64::from(column) << (8 * place);
        }
    }
    let [quote, backslash, control, operator, space, escapable, u, _] = words;
    let broken = if window.is_ascii() { 0 } else { broken(window) };
    Masks { quote, backslash, control, broken, operator, space, escapable, u }
}

/// The bytes of a block at which it is no UTF-8, by the rule of `utf8`.
fn broken(window: &[u8; WINDOW_BYTES]) -> u64 {
    let half = |table: [u8; 16], index: u8| table[usize::from(index)];
    let is_broken = |i: usize| {
        let (byte, before) = (window[i + BEFORE_BYTES], window[i + BEFORE_BYTES - 1]);
        let [three, four] = [window[i + 1], window[i]];
        let errors = half(BYTE_1_HIGH, before >> 4)
            & half(BYTE_1_LOW, before & 0x0F)
            & half(BYTE_2_HIGH, byte >> 4);
        let continues = three.saturating_sub(THREE_BYTES) | four.saturating_sub(FOUR_BYTES);
        errors ^ continues & 0x80 != 0
    };
    (0..BLOCK_BYTES).map(|i| u64::from(is_broken(i)) << i).fold(0, |mask, bit| mask | bit)
}

/// An 8 by 8 matrix of bits with rows and columns exchanged (Hacker's Delight, 7-3).
fn transposed(rows: u64) -> u64 {
    let swapped = |rows: u64, shift: u32, mask: u64| {
        let change = (rows ^ rows >> shift) & mask;
        rows ^ change ^ change << shift
    };
    let rows = swapped(rows, 7, 0x00AA_00AA_00AA_00AA);
    let rows = swapped(rows, 14, 0x0000_CCCC_0000_CCCC);
    swapped(rows, 28, 0x0000_0000_F0F0_F0F0)
}
