//! Parses the text of a script.

use std::str::FromStr;

use umts_units::Duration;

use crate::problem::Mistake;
use crate::script::{Claim, Line, Moment, Quantity, Script, Setting, Step, StepTime};
use crate::segment::{Arriving, Leaving};

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

impl Script {
    pub(crate) fn parse(text: &str) -> Result<Script, Mistake> {
        let mut script = Script { settings: Vec::new(), lines: Vec::new() };
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            match line.strip_prefix("set ") {
                Some(_) if !script.lines.is_empty() => {
                    return Err(Mistake::new(number, "`set` must come before the first event"));
                }
                Some(setting) => script.settings.push(read_setting(number, setting)?),
                None => script.lines.push(read_line(number, line)?),
            }
        }
        if script.lines.is_empty() {
            return Err(Mistake::new(text.lines().count().max(1), "the script has no event"));
        }
        Ok(script)
    }
}

fn read_setting(line: usize, setting: &str) -> Result<Setting, Mistake> {
    let (key, value) = setting
        .split_once('=')
        .ok_or_else(|| Mistake::new(line, "a setting is written as in `set initial_window = 4 segments`"))?;
    Ok(Setting { line, key: key.trim().to_owned(), value: value.trim().to_owned() })
}

fn read_line(number: usize, line: &str) -> Result<Line, Mistake> {
    let mut words = line.split_whitespace().peekable();
    let read = |words: &mut Words| -> Result<Line, String> {
        let when = read_when(words)?;
        let step = read_step(words)?;
        match words.next() {
            Some(word) => Err(format!("unexpected word `{word}`")),
            None => Ok(Line { number, when, step }),
        }
    };
    read(&mut words).map_err(|message| Mistake::new(number, message))
}

fn read_when(words: &mut Words) -> Result<StepTime, String> {
    let Some(first) =
        words.peek().copied().filter(|word| word.starts_with(|c: char| c == '+' || c.is_ascii_digit()))
    else {
        return Ok(StepTime::Same);
    };
    words.next();
    let unit = words.next().ok_or("a time needs a unit, as in `100 ms`")?;
    let digits = first.trim_start_matches('+');
    let moment = read_moment(digits, unit)?;
    Ok(if first.starts_with('+') { StepTime::After(moment) } else { StepTime::At(moment) })
}

fn read_moment(number: &str, unit: &str) -> Result<Moment, String> {
    let time = Duration::from_str(&format!("{number} {unit}")).map_err(|error| error.to_string())?;
    let one_unit = Duration::from_str(&format!("1 {unit}")).map_err(|error| error.to_string())?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
    let half_digit = Duration::from_nanos(one_unit.as_nanos() / 10u64.saturating_pow(decimals) / 2);
    Ok(Moment { time, half_digit })
}

fn read_time(words: &mut Words) -> Result<Duration, String> {
    let (digits, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok(read_moment(digits, unit)?.time)
}

fn read_step(words: &mut Words) -> Result<Step, String> {
    match words.next() {
        Some("open") => Ok(Step::Open),
        Some("close") => Ok(Step::Close),
        Some("write") => match words.next() {
            Some("forever") => Ok(Step::Write(u64::MAX)),
            word => Ok(Step::Write(number("write", word)?)),
        },
        Some("<") => read_arriving(words).map(Step::Arrives),
        Some(">") => read_leaving(words).map(Step::Leaves),
        Some("is") => read_claims(words).map(Step::Is),
        Some(other) => Err(format!("`{other}` is not one of open, write, close, <, > and is")),
        None => Err("an event must follow the time".to_owned()),
    }
}

/// Parses the number that follows the word `of`.
fn number<T: FromStr>(of: &str, word: Option<&str>) -> Result<T, String> {
    let word = word.ok_or_else(|| format!("`{of}` needs a number"))?;
    word.parse().map_err(|_| format!("`{of}` needs a number, not `{word}`"))
}

/// Parses the range that follows the word `of`.
fn range(of: &str, word: Option<&str>) -> Result<(u64, u64), String> {
    let wrong = || format!("`{of}` needs a range, as in `1..1001`");
    let (from, to) = word.and_then(|word| word.split_once("..")).ok_or_else(wrong)?;
    let (from, to) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    if from < to { Ok((from, to)) } else { Err(format!("the range {from}..{to} is empty")) }
}

fn read_arriving(words: &mut Words) -> Result<Arriving, String> {
    let mut segment = Arriving { times: 1, ..Arriving::default() };
    let mut any = false;
    while let Some(word) = words.next() {
        any = true;
        match word {
            "syn" => segment.syn = true,
            "ack" => segment.ack = Some(number(word, words.next()).map(|ack| (ack, ack))?),
            "acks" => segment.ack = Some(range(word, words.next())?),
            "data" => segment.range = Some(range(word, words.next())?),
            "fin" => read_fin(&mut segment.fin, &mut segment.range, words)?,
            "window" => segment.window = Some(number(word, words.next())?),
            "mss" => segment.mss = Some(number(word, words.next())?),
            "sack" => segment.sack.push(range(word, words.next())?),
            "times" => segment.times = number(word, words.next())?,
            "timestamps" => segment.timestamps = true,
            "seq" => segment.seq = Some(number(word, words.next())?),
            "ce" => segment.ce = true,
            "noack" => segment.no_ack = true,
            "stamp" => segment.stamp = Some(read_time(words)?),
            bit if segment.bits.set(bit) => {}
            "echo" => segment.echo = Some(read_time(words)?),
            other => {
                let known = "syn, rst, ece, cwr, ce, seq, ack, acks, noack, data, fin, window, mss, sack, timestamps, \
                    stamp, echo and times";
                return Err(unknown(other, known));
            }
        }
    }
    if any { Ok(segment) } else { Err("a segment must follow the direction".to_owned()) }
}

fn read_leaving(words: &mut Words) -> Result<Leaving, String> {
    let mut segment = Leaving::default();
    let mut any = false;
    while let Some(word) = words.next() {
        any = true;
        match word {
            "syn" => segment.syn = true,
            "ack" => segment.ack = Some(number(word, words.next())?),
            "data" => segment.range = Some(range(word, words.next())?),
            "fin" => read_fin(&mut segment.fin, &mut segment.range, words)?,
            "window" => segment.window = Some(number(word, words.next())?),
            "mss" => segment.mss = Some(number(word, words.next())?),
            "sack" => segment.sack.get_or_insert_default().push(range(word, words.next())?),
            "again" => segment.again = true,
            "seq" => segment.seq = Some(number(word, words.next())?),
            "ect" => segment.ect = true,
            bit if segment.bits.set(bit) => {}
            other => {
                let known = "syn, rst, ece, cwr, ect, seq, ack, data, fin, window, mss, sack and again";
                return Err(unknown(other, known));
            }
        }
    }
    if !any {
        return Err("a segment must follow `>`, as in `> data 1..1001`".to_owned());
    }
    if segment.again && !segment.is_numbered() {
        return Err("an acknowledgment without data is never retransmitted".to_owned());
    }
    Ok(segment)
}

/// `fin 1001`, or `fin` after the data that it closes.
fn read_fin(fin: &mut bool, range: &mut Option<(u64, u64)>, words: &mut Words) -> Result<(), String> {
    *fin = true;
    if range.is_none() {
        let seq = number("fin", words.next())?;
        *range = Some((seq, seq));
    }
    Ok(())
}

fn read_claims(words: &mut Words) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    while let Some(word) = words.next() {
        let quantity = Quantity::ALL.iter().copied().find(|quantity| quantity.word() == word);
        let known = || Quantity::ALL.iter().map(|quantity| quantity.word()).collect::<Vec<_>>().join(", ");
        let quantity = quantity.ok_or_else(|| unknown(word, &known()))?;
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        if !quantity.is_word() {
            value.parse::<f64>().map_err(|_| format!("`{word}` is a number, not `{value}`"))?;
        }
        claims.push(Claim { quantity, value: value.to_owned() });
    }
    if claims.is_empty() {
        Err("`is` needs a quantity and a value, as in `is cwnd 2`".to_owned())
    } else {
        Ok(claims)
    }
}

fn unknown(word: &str, known: &str) -> String {
    format!("`{word}` is not one of {known}")
}
