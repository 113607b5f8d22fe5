//! Multiplication without carries.

use std::arch::x86_64::{
    _mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_set1_epi8,
};

/// The parity of the bits up to each bit: the product with all ones.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn parity(bits: u64) -> u64 {
    let bits = _mm_cvtsi64_si128(bits.cast_signed());
    _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
}
