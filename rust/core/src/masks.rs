//! What each byte of a text is, 64 bytes at a time: the one place with vector instructions.
//!
//! A block of 64 bytes becomes eight words with a bit a byte. Every processor gives the same words:
//! x86-64 looks at 64 bytes at once with AVX-512BW and at 32 with AVX2, everything else looks each
//! byte up in a table.

/// Bytes of a block: one for each bit of a word.
pub(crate) const BLOCK_BYTES: usize = 64;

/// The bytes of one block by what they are; bit `i` of a word is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`
    pub(crate) quote: u64,
    /// `\`
    pub(crate) backslash: u64,
    /// Below 0x20: not allowed in a string.
    pub(crate) control: u64,
    /// Above 0x7F: part of a longer character.
    pub(crate) high: u64,
    /// `{ } [ ] : ,`, and some control bytes that look alike: whoever takes one looks at the byte.
    pub(crate) operator: u64,
    /// Space, tab, line feed, carriage return.
    pub(crate) space: u64,
    /// What may follow a `\`: `" \ / b f n r t u`.
    pub(crate) escapable: u64,
    /// `u`
    pub(crate) u: u64,
}

/// The masks of each block of `blocks`, in order, into the front of `masks`, which is as long.
pub(crate) fn classify(blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has AVX-512BW, the only thing that the function asks for.
        return unsafe { avx512::classify(blocks, masks) };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only thing that the function asks for.
        return unsafe { avx2::classify(blocks, masks) };
    }
    for (block, masks) in blocks.iter().zip(masks) {
        *masks = table::block(block);
    }
}

/// By table, on any processor.
mod table {
    use super::{BLOCK_BYTES, Masks};

    /// The eight answers about each byte, a bit each, in the order of the fields of [`Masks`].
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
            | ((byte > 0x7F) as u8) << 3
            | (matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',' | 0x0C | 0x1A) as u8) << 4
            | (matches!(byte, b' ' | b'\t' | b'\n' | b'\r') as u8) << 5
            | (matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u') as u8)
                << 6
            | ((byte == b'u') as u8) << 7
    }

    /// The masks of one block, eight bytes at a time: their classes, rows of a matrix of bits, are
    /// turned into columns.
    pub(super) fn block(block: &[u8; BLOCK_BYTES]) -> Masks {
        let mut words = [0_u64; 8];
        for (place, bytes) in block.chunks_exact(8).enumerate() {
            let class = |i: usize| CLASSES[usize::from(bytes[i])];
            let rows = u64::from_le_bytes(std::array::from_fn(class));
            for (word, column) in words.iter_mut().zip(transposed(rows).to_le_bytes()) {
                *word |= u64::from(column) << (8 * place);
            }
        }
        let [quote, backslash, control, high, operator, space, escapable, u] = words;
        Masks { quote, backslash, control, high, operator, space, escapable, u }
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
}

/// Tables of 16 bytes for shuffles, which look a byte up by its low four bits.
#[cfg(target_arch = "x86_64")]
mod shuffles {
    /// A byte with 0x20 added is the same as its entry if it is an operator.
    pub(super) const OPERATORS: [u8; 16] =
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];
    /// A byte is the same as its entry if it is white space.
    pub(super) const SPACES: [u8; 16] =
        [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];
    /// What may follow a `\`, by low half: a bit for each high half (2, 5, 6, 7) that it has.
    pub(super) const ESCAPABLE_LOW: [u8; 16] = [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];
    /// The bit of each high half.
    pub(super) const ESCAPABLE_HIGH: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
}

/// 64 bytes at once.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
        _mm512_cmplt_epu8_mask, _mm512_loadu_si512, _mm512_movepi8_mask, _mm512_or_si512,
        _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_test_epi8_mask,
    };

    use super::shuffles::{ESCAPABLE_HIGH, ESCAPABLE_LOW, OPERATORS, SPACES};
    use super::{BLOCK_BYTES, Masks};

    /// The masks of each block.
    #[target_feature(enable = "avx512bw")]
    pub(super) fn classify(blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
        let low_half = _mm512_set1_epi8(0x0F);
        for (block, masks) in blocks.iter().zip(masks) {
            // SAFETY: the pointer is to 64 readable bytes, and the load asks for no alignment.
            let v = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let is = |byte: u8| _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte.cast_signed()));
            let lower = _mm512_or_si512(v, _mm512_set1_epi8(0x20));
            let top = _mm512_and_si512(_mm512_srli_epi16::<4>(v), low_half);
            *masks = Masks {
                quote: is(b'"'),
                backslash: is(b'\\'),
                control: _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)),
                high: _mm512_movepi8_mask(v),
                operator: _mm512_cmpeq_epi8_mask(lower, lookup(&OPERATORS, v)),
                space: _mm512_cmpeq_epi8_mask(v, lookup(&SPACES, v)),
                escapable: _mm512_test_epi8_mask(
                    lookup(&ESCAPABLE_LOW, v),
                    lookup(&ESCAPABLE_HIGH, top),
                ),
                u: is(b'u'),
            };
        }
    }

    /// The entry of each byte; 0 for bytes above 0x7F.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn lookup(table: &[u8; 16], v: __m512i) -> __m512i {
        // SAFETY: the pointer is to 16 readable bytes, and the load asks for no alignment.
        let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
        _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), v)
    }
}

/// 32 bytes at once.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
    };

    use super::shuffles::{ESCAPABLE_HIGH, ESCAPABLE_LOW, OPERATORS, SPACES};
    use super::{BLOCK_BYTES, Masks};

    /// The masks of each block.
    #[target_feature(enable = "avx2")]
    pub(super) fn classify(blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
        for (block, masks) in blocks.iter().zip(masks) {
            let (halves, _) = block.as_chunks::<32>();
            let [low, high] = [half(&halves[0]), half(&halves[1])];
            let join = |mask: usize| u64::from(low[mask]) | u64::from(high[mask]) << 32;
            *masks = Masks {
                quote: join(0),
                backslash: join(1),
                control: join(2),
                high: join(3),
                operator: join(4),
                space: join(5),
                escapable: join(6),
                u: join(7),
            };
        }
    }

    /// The eight masks of half a block, in the order of the fields of [`Masks`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn half(bytes: &[u8; 32]) -> [u32; 8] {
        // SAFETY: the pointer is to 32 readable bytes, and the load asks for no alignment.
        let v = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let is = |byte: u8| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte.cast_signed()));
        let bits = |v: __m256i| _mm256_movemask_epi8(v).cast_unsigned();
        let lower = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
        let top = _mm256_and_si256(_mm256_srli_epi16::<4>(v), _mm256_set1_epi8(0x0F));
        let control = _mm256_set1_epi8(0x1F);
        let escapable = _mm256_and_si256(lookup(&ESCAPABLE_LOW, v), lookup(&ESCAPABLE_HIGH, top));
        [
            bits(is(b'"')),
            bits(is(b'\\')),
            bits(_mm256_cmpeq_epi8(_mm256_max_epu8(v, control), control)),
            bits(v),
            bits(_mm256_cmpeq_epi8(lower, lookup(&OPERATORS, v))),
            bits(_mm256_cmpeq_epi8(v, lookup(&SPACES, v))),
            !bits(_mm256_cmpeq_epi8(escapable, _mm256_setzero_si256())),
            bits(is(b'u')),
        ]
    }

    /// The entry of each byte; 0 for bytes above 0x7F.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lookup(table: &[u8; 16], v: __m256i) -> __m256i {
        // SAFETY: the pointer is to 16 readable bytes, and the load asks for no alignment.
        let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks of a block by their definitions.
    fn naive(block: &[u8; BLOCK_BYTES]) -> Masks {
        let mask = |is: fn(u8) -> bool| {
            let bit = |(i, &byte): (usize, &u8)| u64::from(is(byte)) << i;
            block.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
        };
        Masks {
            quote: mask(|byte| byte == b'"'),
            backslash: mask(|byte| byte == b'\\'),
            control: mask(|byte| byte < 0x20),
            high: mask(|byte| byte > 0x7F),
            operator: mask(|byte| b"{}[]:,\x0C\x1A".contains(&byte)),
            space: mask(|byte| b" \t\n\r".contains(&byte)),
            escapable: mask(|byte| b"\"\\/bfnrtu".contains(&byte)),
            u: mask(|byte| byte == b'u'),
        }
    }

    /// Every byte at every place of a block is what its definition says, by table and by vector.
    #[test]
    fn blocks_are_classified_as_bytes_are() {
        for first in 0..=u8::MAX {
            let blocks: [[u8; BLOCK_BYTES]; 2] = [1, 77].map(|step| {
                let byte =
                    |i: usize| first.wrapping_add(u8::try_from(i * step % 256).expect("a byte"));
                std::array::from_fn(byte)
            });
            let mut masks = [Masks::default(); 2];
            classify(&blocks, &mut masks);
            let expected = blocks.map(|block| naive(&block));
            assert_eq!(masks, expected);
            assert_eq!(blocks.map(|block| table::block(&block)), expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                unsafe { avx2::classify(&blocks, &mut masks) };
                assert_eq!(masks, expected);
            }
        }
    }
}
