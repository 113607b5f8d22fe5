//! The automaton against a recursive parser: the verdict, and the very byte at which it stops.

mod common;

use common::{naive, soup};
use proptest::prelude::*;
use safepoint_core::{Automaton, Fed, Judge, check_json};

/// Feeds a text in parts of `chunk` bytes; gives the end of the value or the byte that stops it.
fn parse(text: &[u8], chunk: usize) -> Result<usize, naive::Stop> {
    let mut json = Automaton::default();
    for (i, part) in text.chunks(chunk).enumerate() {
        match json.feed(part, &mut ()) {
            Fed::All => {}
            Fed::Closed(at) => return Ok(i * chunk + at),
            Fed::Stopped(at) => {
                return Err(naive::Stop { at: i * chunk + at, too_deep: json.is_too_deep() });
            }
        }
    }
    Err(naive::Stop { at: text.len(), too_deep: false })
}

/// Text that begins an object, so that parses get somewhere.
fn object() -> impl Strategy<Value = Vec<u8>> {
    soup(14).prop_map(|bytes| [b"{\"a\":[", &bytes[..]].concat())
}

/// The verdict on a text in parts of `chunk` bytes.
fn judged(text: &[u8], chunk: usize) -> &'static str {
    let mut judge = Judge::default();
    text.chunks(chunk).for_each(|part| judge.push(part, &mut ()));
    judge.verdict().as_str()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The verdict is that of a parser that shares no code with ours.
    #[test]
    fn verdicts_equal_the_naive_ones(text in soup(12)) {
        prop_assert_eq!(check_json(&text).as_str(), naive::verdict(&text));
    }

    /// The piece rule rests on the stopping byte; it must not depend on how the text was cut.
    #[test]
    fn stops_equal_the_naive_ones(text in object()) {
        let expected = naive::value(&text, 0, 0);
        for chunk in [1, 2, 3, 7, 1_000] {
            prop_assert_eq!(parse(&text, chunk), expected);
        }
    }

    /// A text that streams by gets the verdict that it gets whole.
    #[test]
    fn verdicts_do_not_depend_on_parts(text in soup(12)) {
        for chunk in [1, 2, 3, 7] {
            prop_assert_eq!(judged(&text, chunk), naive::verdict(&text));
        }
    }

    /// Integers around the limit stop behind their digits, with every kind of end.
    #[test]
    fn long_integers_stop_behind_their_digits(
        digits in 4_298..4_304_usize,
        end in prop::sample::select(vec!["", "]", " ]", ".", ".5]", "e", "e5]", "x", "]}"]),
    ) {
        let text = format!("[-{}{end}", "9".repeat(digits));
        prop_assert_eq!(parse(text.as_bytes(), 7), naive::value(text.as_bytes(), 0, 0));
        prop_assert_eq!(check_json(text.as_bytes()).as_str(), naive::verdict(text.as_bytes()));
    }
}

/// The stopping bytes that the specification spells out.
#[test]
fn stopping_bytes_are_exact() {
    for (text, at) in [
        ("{\"a\":12x", 7),
        ("{\"a\":01", 6),
        ("{\"a\":-}", 6),
        ("{\"a\":1.}", 7),
        ("{\"a\":1,}", 7),
        ("{\"a\":tru{", 8),
        ("{\"a\":\"\\u00{", 10),
        ("{\"a\":\"\\x", 7),
    ] {
        let stop = naive::Stop { at, too_deep: false };
        assert_eq!(parse(text.as_bytes(), 1), Err(stop), "{text}");
    }
}
