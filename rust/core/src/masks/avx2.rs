//! 32 bytes at once.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
    _mm256_subs_epu8, _mm256_xor_si256,
};

use super::shuffles::{ESCAPABLE_HIGH, ESCAPABLE_LOW, OPERATORS, SPACES};
use super::utf8::{BYTE_1_HIGH, BYTE_1_LOW, BYTE_2_HIGH, FOUR_BYTES, THREE_BYTES};
use super::{BEFORE_BYTES, BLOCK_BYTES, Masks, Vector, WINDOW_BYTES, Work, clmul};

/// Proof that the processor has what the functions here ask for: only `detect` makes one.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The proof, if there is one.
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("pclmulqdq");
        has_all.then_some(Avx2(()))
    }

    /// Does the work.
    pub(super) fn run<W: Work>(self, work: W) {
        /// The same, compiled for the processor.
        #[target_feature(enable = "avx2,bmi1,bmi2,pclmulqdq")]
        fn compiled<W: Work>(vector: Avx2, work: W) {
            work.run(vector);
        }
        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled(self, work) }
    }
}

impl Vector for Avx2 {
    #[inline(always)]
    fn masks(self, window: &[u8; WINDOW_BYTES]) -> Masks {
        // SAFETY: `self` proves that the processor has these features.
        let [low, high] = [0, 32].map(|at| unsafe { half(window, at) });
        let join = |mask: usize| u64::from(low[mask]) | u64::from(high[mask]) << 32;
        Masks {
            quote: join(0),
            backslash: join(1),
            control: join(2),
            broken: join(3),
            operator: join(4),
            space: join(5),
            escapable: join(6),
            u: join(7),
        }
    }

    #[inline(always)]
    fn is_plain(self, block: &[u8; BLOCK_BYTES]) -> bool {
        // SAFETY: `self` proves that the processor has these features.
        let is_plain = |half: &[u8; 32]| unsafe { is_plain(half) };
        let (halves, _) = block.as_chunks();
        is_plain(&halves[0]) & is_plain(&halves[1])
    }

    #[inline(always)]
    fn parity(self, bits: u64) -> u64 {
        // SAFETY: `self` proves that the processor has these features.
        unsafe { clmul::parity(bits) }
    }
}

/// Whether half a block is plain. As signed numbers, control bytes and those above 0x7F are small.
#[inline]
#[target_feature(enable = "avx2")]
fn is_plain(half: &[u8; 32]) -> bool {
    // SAFETY: the pointer is to 32 readable bytes, and the load asks for no alignment.
    let v = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let is = |byte: u8| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte.cast_signed()));
    let small = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v);
    let special = _mm256_or_si256(small, _mm256_or_si256(is(b'"'), is(b'\\')));
    _mm256_movemask_epi8(special) == 0
}

/// The eight masks of the 32 bytes of a block from `at` on, in the order of the fields of
/// [`Masks`].
#[inline]
#[target_feature(enable = "avx2")]
fn half(window: &[u8; WINDOW_BYTES], at: usize) -> [u32; 8] {
    let v = load(window, at + BEFORE_BYTES);
    let is = |byte: u8| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte.cast_signed()));
    let bits = |v: __m256i| _mm256_movemask_epi8(v).cast_unsigned();
    let zero = |v: __m256i| bits(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
    let lower = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
    let control = _mm256_set1_epi8(0x1F);
    let escapable = _mm256_and_si256(lookup(&ESCAPABLE_LOW, v), lookup(&ESCAPABLE_HIGH, top(v)));
    [
        bits(is(b'"')),
        bits(is(b'\\')),
        bits(_mm256_cmpeq_epi8(_mm256_max_epu8(v, control), control)),
        !zero(broken(window, at, v)),
        bits(_mm256_cmpeq_epi8(lower, lookup(&OPERATORS, v))),
        bits(_mm256_cmpeq_epi8(v, lookup(&SPACES, v))),
        !zero(escapable),
        bits(is(b'u')),
    ]
}

/// Not 0 at the bytes `v` of a block, from `at` on, at which it is no UTF-8, by the rule of `utf8`.
#[inline]
#[target_feature(enable = "avx2")]
fn broken(window: &[u8; WINDOW_BYTES], at: usize, v: __m256i) -> __m256i {
    let [one, two, three] = [1, 2, 3].map(|before| load(window, at + BEFORE_BYTES - before));
    let low_half = _mm256_set1_epi8(0x0F);
    let first = _mm256_and_si256(
        lookup(&BYTE_1_HIGH, top(one)),
        lookup(&BYTE_1_LOW, _mm256_and_si256(one, low_half)),
    );
    let errors = _mm256_and_si256(first, lookup(&BYTE_2_HIGH, top(v)));
    let continues = _mm256_or_si256(
        _mm256_subs_epu8(two, _mm256_set1_epi8(THREE_BYTES.cast_signed())),
        _mm256_subs_epu8(three, _mm256_set1_epi8(FOUR_BYTES.cast_signed())),
    );
    _mm256_xor_si256(errors, _mm256_and_si256(continues, _mm256_set1_epi8(-0x80)))
}

/// The high half of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn top(v: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srli_epi16::<4>(v), _mm256_set1_epi8(0x0F))
}

/// 32 bytes of a window, `at` bytes behind its front.
#[inline]
#[target_feature(enable = "avx2")]
fn load(window: &[u8; WINDOW_BYTES], at: usize) -> __m256i {
    let bytes: &[u8; 32] = window[at..].first_chunk().expect("inside the window");
    // SAFETY: the pointer is to 32 readable bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// The entry of the low half of each byte; 0 for bytes above 0x7F.
#[inline]
#[target_feature(enable = "avx2")]
fn lookup(table: &[u8; 16], v: __m256i) -> __m256i {
    // SAFETY: the pointer is to 16 readable bytes, and the load asks for no alignment.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), v)
}
