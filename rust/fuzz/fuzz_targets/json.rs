//! The verdict, quick or by automaton, and the stopping byte against a recursive parser, in parts
//! of any size; the seq seen by a quick look against that of the automaton.
#![no_main]

use libfuzzer_sys::fuzz_target;
use safepoint_core::{Automaton, Fed, Judge, Top, check_json, classify_line};

#[allow(dead_code, reason = "each target uses a part")]
#[path = "../../core/tests/common/naive.rs"]
mod naive;

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

fuzz_target!(|input: &[u8]| {
    let Some((&chunk, text)) = input.split_first() else { return };
    let chunk = usize::from(chunk).max(1);
    let expected = naive::verdict(text);
    assert_eq!(check_json(text).as_str(), expected);
    let (mut judge, mut top) = (Judge::default(), Top::default());
    text.chunks(chunk).for_each(|part| judge.push(part, &mut top));
    assert_eq!(judge.verdict().as_str(), expected);
    if expected == "ok" && !text.contains(&b'\n') {
        assert_eq!(classify_line(text).1[0].seq, top.seq());
    }
    if let Some(start) = text.iter().position(|&byte| byte == b'{') {
        assert_eq!(parse(&text[start..], chunk), naive::value(&text[start..], 0, 0));
    }
});
