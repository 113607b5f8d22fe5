//! 64 bytes at once.

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512, _mm512_or_si512,
    _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_subs_epu8,
    _mm512_test_epi8_mask, _mm512_xor_si512,
};

use super::shuffles::{ESCAPABLE_HIGH, ESCAPABLE_LOW, OPERATORS, SPACES};
use super::utf8::{BYTE_1_HIGH, BYTE_1_LOW, BYTE_2_HIGH, FOUR_BYTES, THREE_BYTES};
use super::{BEFORE_BYTES, BLOCK_BYTES, Masks, Vector, WINDOW_BYTES, Work, clmul};

/// Proof that the processor has what the functions here ask for: only `detect` makes one.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The proof, if there is one.
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("pclmulqdq");
        has_all.then_some(Avx512(()))
    }

    /// Does the work.
    pub(super) fn run<W: Work>(self, work: W) {
        /// The same, compiled for the processor.
        #[target_feature(enable = "avx512bw,bmi1,bmi2,pclmulqdq")]
        fn compiled<W: Work>(vector: Avx512, work: W) {
            work.run(vector);
        }
        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled(self, work) }
    }
}

impl Vector for Avx512 {
    #[inline(always)]
    fn masks(self, window: &[u8; WINDOW_BYTES]) -> Masks {
        // SAFETY: `self` proves that the processor has these features.
        unsafe { masks(window) }
    }

    #[inline(always)]
    fn is_plain(self, block: &[u8; BLOCK_BYTES]) -> bool {
        // SAFETY: `self` proves that the processor has these features.
        unsafe { is_plain(block) }
    }

    #[inline(always)]
    fn parity(self, bits: u64) -> u64 {
        // SAFETY: `self` proves that the processor has these features.
        unsafe { clmul::parity(bits) }
    }
}

/// Whether a block is plain. As signed numbers, control bytes and those above 0x7F are small.
#[inline]
#[target_feature(enable = "avx512bw")]
fn is_plain(block: &[u8; BLOCK_BYTES]) -> bool {
    // SAFETY: the pointer is to 64 readable bytes, and the load asks for no alignment.
    let v = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte.cast_signed()));
    let small = _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8(0x20));
    small | is(b'"') | is(b'\\') == 0
}

/// The masks of a block.
#[inline]
#[target_feature(enable = "avx512bw")]
fn masks(window: &[u8; WINDOW_BYTES]) -> Masks {
    let v = load(window, BEFORE_BYTES);
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte.cast_signed()));
    let lower = _mm512_or_si512(v, _mm512_set1_epi8(0x20));
    let (low, high) = (lookup(&ESCAPABLE_LOW, v), lookup(&ESCAPABLE_HIGH, top(v)));
    let broken = broken(window, v);
    Masks {
        quote: is(b'"'),
        backslash: is(b'\\'),
        control: _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)),
        broken: _mm512_test_epi8_mask(broken, broken),
        operator: _mm512_cmpeq_epi8_mask(lower, lookup(&OPERATORS, v)),
        space: _mm512_cmpeq_epi8_mask(v, lookup(&SPACES, v)),
        escapable: _mm512_test_epi8_mask(low, high),
        u: is(b'u'),
    }
}

/// Not 0 at the bytes `v` of a block at which it is no UTF-8, by the rule of `utf8`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn broken(window: &[u8; WINDOW_BYTES], v: __m512i) -> __m512i {
    let [one, two, three] = [1, 2, 3].map(|before| load(window, BEFORE_BYTES - before));
    let low_half = _mm512_set1_epi8(0x0F);
    let first = _mm512_and_si512(
        lookup(&BYTE_1_HIGH, top(one)),
        lookup(&BYTE_1_LOW, _mm512_and_si512(one, low_half)),
    );
    let errors = _mm512_and_si512(first, lookup(&BYTE_2_HIGH, top(v)));
    let continues = _mm512_or_si512(
        _mm512_subs_epu8(two, _mm512_set1_epi8(THREE_BYTES.cast_signed())),
        _mm512_subs_epu8(three, _mm512_set1_epi8(FOUR_BYTES.cast_signed())),
    );
    _mm512_xor_si512(errors, _mm512_and_si512(continues, _mm512_set1_epi8(-0x80)))
}

/// The high half of each byte.
#[inline]
#[target_feature(enable = "avx512bw")]
fn top(v: __m512i) -> __m512i {
    _mm512_and_si512(_mm512_srli_epi16::<4>(v), _mm512_set1_epi8(0x0F))
}

/// 64 bytes of a window, `at` bytes behind its front.
#[inline]
#[target_feature(enable = "avx512bw")]
fn load(window: &[u8; WINDOW_BYTES], at: usize) -> __m512i {
    let bytes: &[u8; 64] = window[at..].first_chunk().expect("at most BEFORE_BYTES");
    // SAFETY: the pointer is to 64 readable bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The entry of the low half of each byte; 0 for bytes above 0x7F.
#[inline]
#[target_feature(enable = "avx512bw")]
fn lookup(table: &[u8; 16], v: __m512i) -> __m512i {
    // SAFETY: the pointer is to 16 readable bytes, and the load asks for no alignment.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), v)
}
