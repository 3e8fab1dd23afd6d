//! YAML as the JSON that Kubernetes makes from it, so that one reader serves both. Reads from any reader, and opens none.
//!
//! Kubernetes reads YAML through Go's `sigs.k8s.io/yaml`, whose plain scalars are those of YAML 1.1 and 1.2 together: `yes`
//! is a boolean, `0o17` and `017` are 15, `1_000` is a number, and a timestamp without quotes stays text.

use crate::text;
use crate::text::error::Error;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput, Tag};
use std::borrow::Cow;
use std::io::{self, Read};

/// The most bytes of YAML. Its parser needs the whole text in memory, while JSON is read as a stream and has no limit.
const LONGEST: u64 = 256 << 20;

/// Returns all of the YAML from `reader`.
pub(crate) fn text(reader: impl Read) -> Result<String, Error> {
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| Error::new(error.to_string()))?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(Error::new(format!(
            "the YAML is longer than {most} MiB: print the objects with -o json, which has no limit"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.split(|byte| *byte == b'\n').count();
        Error::new(format!("not UTF-8 at line {line}"))
    })
}

/// The documents of a YAML text as JSON, one after the other. Each value is in the same line as in the YAML.
pub(crate) struct AsJson<'a> {
    yaml: Parser<'a, StrInput<'a>>,
    /// The JSON written so far, and how much of it was read.
    json: Vec<u8>,
    read: usize,
    /// The line in which `json` ends.
    line: usize,
    /// The collections around the next event.
    open: Vec<Collection>,
}

struct Collection {
    kind: Kind,
    is_empty: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sequence,
    /// A mapping, and whether a key comes next.
    Mapping {
        key_is_next: bool,
    },
}

impl<'a> AsJson<'a> {
    pub(crate) fn new(yaml: &'a str) -> Self {
        Self { yaml: Parser::new_from_str(yaml), json: Vec::new(), read: 0, line: 1, open: Vec::new() }
    }

    /// Writes the next event. Returns false after the last.
    fn step(&mut self) -> Result<bool, ScanError> {
        let Some(next) = self.yaml.next_event() else { return Ok(false) };
        let (event, span) = next
            .map_err(|error| refuse(*error.marker(), &format!("not YAML: {}", text::brief(error.info()))))?;
        let place = span.start;
        match event {
            Event::StreamEnd => return Ok(false),
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::Alias(_) => {
                return Err(refuse(place, "a YAML alias, which kubectl never writes: use -o json"));
            }
            Event::Scalar(text, style, _, tag) => self.scalar(place, &text, style, tag.as_deref())?,
            Event::SequenceStart(..) => self.open(place, Kind::Sequence, b'[')?,
            Event::MappingStart(..) => self.open(place, Kind::Mapping { key_is_next: true }, b'{')?,
            Event::SequenceEnd => self.close(b']'),
            Event::MappingEnd => self.close(b'}'),
        }
        Ok(true)
    }

    fn open(&mut self, place: Marker, kind: Kind, bracket: u8) -> Result<(), ScanError> {
        if self.before(place) {
            return Err(refuse(place, "a key that is not text"));
        }
        self.json.push(bracket);
        self.open.push(Collection { kind, is_empty: true });
        Ok(())
    }

    fn close(&mut self, bracket: u8) {
        self.open.pop();
        self.json.push(bracket);
    }

    fn scalar(
        &mut self,
        place: Marker,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
    ) -> Result<(), ScanError> {
        let json = match tag {
            None if style == ScalarStyle::Plain => plain(text),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix != "str" => match &*tag.suffix {
                "bool" | "int" | "float" | "null" | "timestamp" => plain(text),
                other => {
                    return Err(refuse(
                        place,
                        &format!(
                            "the YAML tag !!{}, which kubectl never writes: use -o json",
                            text::word(other)
                        ),
                    ));
                }
            },
            _ => Some(quoted(text)),
        };
        let json = json.ok_or_else(|| refuse(place, "a number that JSON does not have: put it in quotes"))?;
        if self.open.is_empty() && json == "null" {
            // An empty document, as between two `---`.
            return Ok(());
        }
        if !self.before(place) {
            self.json.extend(json.bytes());
        } else if style == ScalarStyle::Plain && text == "<<" {
            return Err(refuse(place, "a YAML merge key, which kubectl never writes: use -o json"));
        } else if json == "null" {
            return Err(refuse(place, "a key that is not text"));
        } else if json.starts_with('"') {
            self.json.extend(json.bytes());
        } else {
            self.json.extend(quoted(&json).bytes());
        }
        Ok(())
    }

    /// Writes what separates the last value from the next, which begins at `place`. Returns whether that is a key.
    fn before(&mut self, place: Marker) -> bool {
        let mut is_key = false;
        match self.open.last_mut() {
            // A document of its own.
            None => self.json.push(b' '),
            Some(Collection { kind: Kind::Mapping { key_is_next }, .. }) if !*key_is_next => {
                *key_is_next = true;
                self.json.push(b':');
            }
            Some(Collection { kind, is_empty }) => {
                if !std::mem::take(is_empty) {
                    self.json.push(b',');
                }
                if let Kind::Mapping { key_is_next } = kind {
                    is_key = std::mem::take(key_is_next);
                }
            }
        }
        while self.line < place.line() {
            self.line += 1;
            self.json.push(b'\n');
        }
        is_key
    }
}

impl Read for AsJson<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.json.len() {
            self.json.clear();
            self.read = 0;
            let place = |error: ScanError| {
                io::Error::other(format!("line {}: {}", error.marker().line(), error.info()))
            };
            if !self.step().map_err(place)? {
                return Ok(0);
            }
        }
        let count = (&self.json[self.read..]).read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

fn refuse(place: Marker, what: &str) -> ScanError {
    ScanError::new(place, what.to_owned())
}

fn quoted(text: &str) -> Cow<'static, str> {
    serde_json::Value::from(text).to_string().into()
}

/// Returns a scalar without quotes as JSON. `None` for infinities and NaN.
fn plain(text: &str) -> Option<Cow<'static, str>> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => "null".into(),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => "true".into(),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            "false".into()
        }
        _ => match text.strip_prefix(['+', '-']).unwrap_or(text) {
            ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN" => return None,
            _ => number(text).map_or_else(|| quoted(text), Cow::from),
        },
    })
}

fn number(text: &str) -> Option<String> {
    match text.as_bytes().first()? {
        b'+' | b'-' | b'0'..=b'9' => {
            let text = text.replace('_', "");
            integer(&text).map(|integer| integer.to_string()).or_else(|| float(&text))
        }
        b'.' => float(text),
        _ => None,
    }
}

/// Returns an integer in Go's syntax, of signed or unsigned 64 bits.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let integer = sign * i128::from_str_radix(digits, radix).ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&integer).then_some(integer)
}

/// Returns a finite decimal number. Like Go, writes one without a fraction as an integer.
fn float(text: &str) -> Option<String> {
    // Above it Go writes an exponent, too.
    const INTEGERS: f64 = 1e21;
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let number =
        is_decimal.then(|| text.parse::<f64>().ok()).flatten().filter(|number| number.is_finite())?;
    if number.fract() == 0.0 && number.abs() < INTEGERS {
        return Some(format!("{number:.0}"));
    }
    serde_json::Number::from_f64(number).map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn json(yaml: &str) -> Result<String, String> {
        let mut json = String::new();
        AsJson::new(yaml).read_to_string(&mut json).map_err(|error| error.to_string())?;
        Ok(json)
    }

    /// As `sigs.k8s.io/yaml` v1.6.0 reads each.
    #[test]
    fn plain_scalars_are_what_kubernetes_reads() {
        let texts = "a tRUE nUll 1e400 -1e400 12:30:45 1:20 2026-03-10 2026-03-10T12:00:00Z = 1a 1e 0x 0b 0b2 0xZZ 1.2.3 ._1 0x_ \
                     inf nan Infinity NaN _ _1 + 0x+1 6ce0ecd1-7893-41ef-a89c-b85497ef08f7";
        for text in texts.split(' ').chain(["2026-03-10 12:00:00"]) {
            assert_eq!(plain(text), Some(quoted(text)), "{text}");
        }
        let others = [
            ("true TRUE yes On y", "true"),
            ("N off False", "false"),
            ("~ Null", "null"),
            ("", "null"),
            ("0 -0 1e-400", "0"),
            ("+1 1_ 0_1 1. 1.0", "1"),
            ("-12", "-12"),
            ("012 1__0", "10"),
            ("-012", "-10"),
            ("0o17", "15"),
            ("08", "8"),
            ("0888", "888"),
            ("0777", "511"),
            ("0x1F 0X1F", "31"),
            ("-0x1F", "-31"),
            ("0b101", "5"),
            ("-0b1_0", "-2"),
            ("1_000 1e3 1E+3", "1000"),
            ("1e3_0", "1e+30"),
            ("1.5", "1.5"),
            ("-.5", "-0.5"),
            ("+.5", "0.5"),
            (".5e3", "500"),
            ("12e03", "12000"),
            ("1_0.5", "10.5"),
            ("0.1", "0.1"),
            ("1e-7", "1e-7"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-0.0", "-0"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ];
        for (texts, expected) in others {
            let value = |json: &str| serde_json::from_str::<Value>(json).expect("JSON");
            for text in texts.split(' ') {
                assert_eq!(plain(text).map(|json| value(&json)), Some(value(expected)), "{text}");
            }
        }
        for text in [".inf", "-.inf", "+.Inf", ".nan", ".NaN"] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn documents_are_what_kubernetes_reads() {
        let same = [
            ("a: 1", r#"{"a":1}"#),
            ("true: 1", r#"{"true":1}"#),
            ("0x10: 1", r#"{"16":1}"#),
            ("2026-03-10: 1", r#"{"2026-03-10":1}"#),
            ("a: \"1\"", r#"{"a":"1"}"#),
            ("a: !!str 1", r#"{"a":"1"}"#),
            ("a: !!int \"1\"", r#"{"a":1}"#),
            ("a: !foo 1", r#"{"a":"1"}"#),
            ("a: ! 1", r#"{"a":"1"}"#),
            ("a: !!bool yes", r#"{"a":true}"#),
            ("a: !!timestamp 2026-03-10", r#"{"a":"2026-03-10"}"#),
            ("a:\n- 1\n- b: [x, {y: z}]\n  c:\n", r#"{"a":[1,{"b":["x",{true:"z"}],"c":null}]}"#),
            ("a: |\n  x\n  \"y\n", r#"{"a":"x\n\"y\n"}"#),
            ("a: >-\n  x\n  y\n", r#"{"a":"x y"}"#),
            ("{}", "{}"),
        ];
        for (yaml, expected) in same {
            let json = json(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
            let json = json.split_whitespace().collect::<Vec<_>>().join("");
            let expected = expected.replace("{true:", "{\"true\":").replace(' ', "");
            assert_eq!(json, expected, "{yaml}");
        }
        assert_eq!(json("").as_deref(), Ok(""));
        assert_eq!(
            json("---\n# nothing\n---\na: 1\n---\n...\n---\nb: 2\n").as_deref(),
            Ok(" \n\n\n{\"a\":1} \n\n\n\n{\"b\":2}")
        );
    }

    #[test]
    fn what_kubectl_never_writes_is_refused() {
        for (yaml, error) in [
            ("a: 1\nb: *x", "line 2: not YAML: while parsing node, found unknown anchor"),
            ("a: &x 1\nb: *x", "line 2: a YAML alias, which kubectl never writes: use -o json"),
            ("a:\n  <<: {b: 1}", "line 2: a YAML merge key, which kubectl never writes: use -o json"),
            ("? [1]\n: 2", "line 1: a key that is not text"),
            ("~: 2", "line 1: a key that is not text"),
            ("a: .inf", "line 1: a number that JSON does not have: put it in quotes"),
            ("a: !!binary aGk=", "line 1: the YAML tag !!binary, which kubectl never writes: use -o json"),
        ] {
            assert_eq!(json(yaml), Err(error.to_owned()), "{yaml}");
        }
    }
}
