//! The automaton against a recursive parser: the verdict, and the very byte at which it stops.

mod common;

use common::{naive, soup};
use proptest::prelude::*;
use proptest::sample::select;
use safepoint_core::{Automaton, Fed, Judge, Top, check_json, classify_line};

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

/// A value, often long enough for a few blocks of 64 bytes.
fn value() -> impl Strategy<Value = String> {
    let words = ["0", "-1", "12.5e-3", "1E+9", "true", "false", "null", "NaN", "\"\"", "123456789"];
    let texts =
        ["a", "\\n", "\\\\", "\\\"", "\\u001b", "\\uD83d", "é", "東", "😀", "plain text {}[]:, "];
    let text = prop::collection::vec(select(texts.to_vec()), 0..24);
    let text = text.prop_map(|parts| format!("\"{}\"", parts.concat()));
    let leaf = prop_oneof![select(words.to_vec()).prop_map(str::to_owned), text];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let space = || select(vec!["", "", "", " ", "\t\r"]);
        let keys = select(vec!["seq", "type", "a", "\\u0073eq", "seq\\u0000", "é"]);
        let member = (keys, space(), inner.clone());
        let member = member.prop_map(|(key, space, value)| format!("\"{key}\":{space}{value}"));
        let members = prop::collection::vec(member, 0..5);
        let items = (prop::collection::vec(inner, 0..5), space());
        prop_oneof![
            (members, space()).prop_map(|(all, space)| format!("{{{}{space}}}", all.join(","))),
            items.prop_map(|(all, space)| format!("[{space}{}]", all.join(","))),
        ]
    })
}

/// A line that is an object, or would be but for a byte or two.
fn near_object() -> impl Strategy<Value = Vec<u8>> {
    let bytes = b"\"\\{}[]:,u019.-e \t\x00\x0C\x1A\x1F\x7F\x80\xC3\xED\xF4aft".to_vec();
    let change = (any::<prop::sample::Index>(), select(bytes), 0..3_u8);
    let seq =
        select(vec!["7", "999999999999999999", "1000000000000000000", "-1", "1.0", "\"7\"", "[1]"]);
    let parts = (seq, prop::collection::vec(value(), 1..4), prop::collection::vec(change, 0..3));
    parts.prop_map(|(seq, values, changes)| {
        let members = values.iter().map(|value| format!(",\"data\":{value}"));
        let text = format!("{{\"seq\":{seq}{}}}", members.collect::<String>());
        let mut line = text.into_bytes();
        for (place, byte, how) in changes {
            let at = place.index(line.len());
            match how {
                0 => line[at] = byte,
                1 => line.insert(at, byte),
                _ => line.truncate((at + 1).max(line.len() * 3 / 4)),
            }
        }
        line
    })
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

    /// A line that is nearly an object is looked at quickly, and gets the verdict and the seq that
    /// the automaton gives it.
    #[test]
    fn quick_looks_see_what_the_automaton_sees(line in near_object()) {
        let (mut judge, mut top) = (Judge::default(), Top::default());
        judge.push(&line, &mut top);
        prop_assert_eq!(check_json(&line), judge.verdict());
        prop_assert_eq!(check_json(&line).as_str(), naive::verdict(&line));
        let (_, objects) = classify_line(&line);
        if judge.verdict() == safepoint_core::Verdict::Ok {
            let seqs: Vec<_> = objects.iter().map(|object| (object.length, object.seq)).collect();
            prop_assert_eq!(seqs, [(line.len() as u64, top.seq())]);
        }
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
        end in select(vec!["", "]", " ]", ".", ".5]", "e", "e5]", "x", "]}"]),
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
