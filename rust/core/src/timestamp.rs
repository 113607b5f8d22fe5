//! A moment as a record's `ts`: UTC, RFC 3339, microseconds.

const SECOND_MICROS: u64 = 1_000_000;
const DAY_SECONDS: u64 = 86_400;
/// Days of the 400 years after which the calendar repeats.
const ERA_DAYS: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAY: u64 = 719_468;
/// The first moment whose year has five digits.
const MICROS_END: u64 = 253_402_300_800 * SECOND_MICROS;

/// The moment `micros` microseconds after 1970 began; `None` from the year 10000 on.
pub fn timestamp(micros: u64) -> Option<[u8; 27]> {
    if micros >= MICROS_END {
        return None;
    }
    let seconds = micros / SECOND_MICROS;
    let (year, month, day) = date(seconds / DAY_SECONDS);
    let second = seconds % DAY_SECONDS;
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    put(&mut text[..4], year);
    put(&mut text[5..7], month);
    put(&mut text[8..10], day);
    put(&mut text[11..13], second / 3600);
    put(&mut text[14..16], second / 60 % 60);
    put(&mut text[17..19], second % 60);
    put(&mut text[20..26], micros % SECOND_MICROS);
    Some(text)
}

/// (year, month, day) of the day that comes `days` after 1970-01-01. Years are counted from March
/// here, so that the leap day is the last one of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + EPOCH_DAY;
    let (era, day) = (days / ERA_DAYS, days % ERA_DAYS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let months = (5 * day + 2) / 153;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    (year, month, day - (153 * months + 2) / 5 + 1)
}

/// Fills `room` with the last digits of `number`.
fn put(room: &mut [u8], mut number: u64) {
    for byte in room.iter_mut().rev() {
        *byte = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
}
