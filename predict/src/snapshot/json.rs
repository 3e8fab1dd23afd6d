//! JSON that arrives in blocks, read value by value. Only the text of the current value is held. Reads from any reader, and
//! opens none.
//!
//! `serde_json` reads a slice faster than an `io::Read`, which it asks for single bytes. Only reading a value
//! shows whether the slice has all of it: if the text ends too early, more is read, and the value is read again.

use crate::text::error::without_place;
use memchr::{memchr_iter, memrchr};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer as _, Visitor};
use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::convert::Infallible;
use std::fmt;
use std::io::{self, Read};

/// The number of bytes to read at a time: enough for many objects, so that few are cut at the end.
const BLOCK: usize = 256 << 10;

/// JSON documents, one after the other.
pub(crate) struct Json<R> {
    /// `None` after its end or its failure.
    reader: Option<R>,
    /// Why the reader failed. It is reported when more text is needed than there is.
    failure: Option<io::Error>,
    /// The text that was read and is still needed.
    text: Vec<u8>,
    /// The index in `text` of the first byte that was not taken yet.
    next: usize,
    /// The index in `text` at which [`Json::hold`] was called.
    held: Option<usize>,
    /// The place of `text` in the whole input.
    start: Place,
    /// The least number of bytes to read at a time.
    block: usize,
}

/// A place in the input: the number of the line, and the number of its bytes up to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    column: usize,
}

/// Why a value cannot be read, and where.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The reader failed. It names the place itself, if it knows one.
    Reader(io::Error),
    /// The text ends too early.
    End(Place),
    /// The text is not JSON.
    Syntax(String, Place),
    /// The value is not what is expected.
    Data(String, Place),
}

/// Whether a list or an object has had its first element.
#[derive(Default)]
pub(crate) struct Elements {
    has_begun: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Reader(error)
    }
}

impl<R: Read> Json<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::with_block(reader, BLOCK)
    }

    fn with_block(reader: R, block: usize) -> Self {
        let start = Place { line: 1, column: 0 };
        Self { reader: Some(reader), failure: None, text: Vec::new(), next: 0, held: None, start, block }
    }

    /// The next byte that is not white space; `None` at the end.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let rest = &self.text[self.next..];
            let white = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')).count();
            self.next += white;
            match rest.get(white).copied() {
                Some(byte) => return Ok(Some(byte)),
                None if self.fill()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Consumes the bracket or brace that [`Json::peek`] returned.
    pub(crate) fn open(&mut self) -> Elements {
        self.next += 1;
        Elements::default()
    }

    /// Steps to the next element of what ends with `close`. Returns its first byte; `None` at the end.
    fn next_of(&mut self, elements: &mut Elements, close: u8) -> Result<Option<u8>, Fault> {
        let has_begun = std::mem::replace(&mut elements.has_begun, true);
        match self.peek()? {
            Some(byte) if byte == close => {
                self.next += 1;
                return Ok(None);
            }
            Some(b',') if has_begun => self.next += 1,
            Some(_) if has_begun => {
                return Err(self.syntax(&format!("expected `,` or `{}`", char::from(close))));
            }
            _ => {}
        }
        match self.peek()? {
            Some(byte) if byte == close => Err(self.syntax("trailing comma")),
            None => Err(Fault::End(self.next_place())),
            first => Ok(first),
        }
    }

    /// Steps to the next element of a list; false at its end.
    pub(crate) fn next_element(&mut self, elements: &mut Elements) -> Result<bool, Fault> {
        self.next_of(elements, b']').map(|first| first.is_some())
    }

    /// Takes the next key of an object; `None` at its end.
    pub(crate) fn next_key(&mut self, elements: &mut Elements) -> Result<Option<String>, Fault> {
        match self.next_of(elements, b'}')? {
            None => return Ok(None),
            Some(b'"') => {}
            Some(_) => return Err(self.syntax("key must be a string")),
        }
        loop {
            let mut keys = Deserializer::from_slice(&self.text[self.next..]).into_iter();
            match keys.next().transpose() {
                Ok(key) => {
                    self.next += keys.byte_offset();
                    return Ok(key);
                }
                Err(error) if error.is_eof() && self.fill()? => {}
                Err(error) => return Err(self.next_place().fault(&error)),
            }
        }
    }

    /// Takes the colon behind a key.
    pub(crate) fn colon(&mut self) -> Result<(), Fault> {
        match self.peek()? {
            Some(b':') => {
                self.next += 1;
                Ok(())
            }
            Some(_) => Err(self.syntax("expected `:`")),
            None => Err(Fault::End(self.next_place())),
        }
    }

    /// Takes the next value, of any type.
    pub(crate) fn value(&mut self) -> Result<Box<RawValue>, Fault> {
        self.peek()?;
        loop {
            let rest = &self.text[self.next..];
            let value = Box::<RawValue>::deserialize(&mut Deserializer::from_slice(rest));
            let may_go_on = match &value {
                Ok(value) => value.get().len() == rest.len() && ends_in_number(rest),
                Err(error) => may_go_on(rest, error),
            };
            if may_go_on && self.fill()? {
                continue;
            }
            let value = value.map_err(|error| self.next_place().fault(&error))?;
            self.next += value.get().len();
            return Ok(value);
        }
    }

    /// Takes the next value if it is an object that can be read as a `T` and that `take` accepts. The object is read just
    /// once, but if it cannot be read, nothing says why.
    pub(crate) fn take_if<T: DeserializeOwned>(&mut self, take: impl FnOnce(T) -> bool) -> io::Result<bool> {
        if self.peek()? != Some(b'{') {
            return Ok(false);
        }
        loop {
            let rest = &self.text[self.next..];
            let mut values = Deserializer::from_slice(rest).into_iter();
            match values.next() {
                Some(Ok(value)) => {
                    let object = &rest[..values.byte_offset()];
                    // `serde_json` does not look into the text that `T` ignores.
                    let is_taken = str::from_utf8(object).is_ok() && take(value);
                    self.next += if is_taken { object.len() } else { 0 };
                    return Ok(is_taken);
                }
                Some(Err(error)) if may_go_on(rest, &error) && self.fill()? => {}
                _ => return Ok(false),
            }
        }
    }

    /// Returns what is wrong with the next value, of which `expected` says what it should be.
    pub(crate) fn refuse(
        &mut self,
        expected: impl for<'de> Visitor<'de, Value = Infallible> + Copy,
    ) -> Fault {
        loop {
            let rest = &self.text[self.next..];
            let Err(error) = Deserializer::from_slice(rest).deserialize_any(expected);
            let may_go_on = match rest {
                [b'0'..=b'9' | b'-', ..] => ends_in_number(rest),
                _ => error.is_eof(),
            };
            let fault = self.next_place().fault(&error);
            match may_go_on.then(|| self.fill()) {
                Some(Ok(true)) => {}
                Some(Err(error)) => return error.into(),
                _ if error.is_data() => return Fault::Data(without_place(&error), self.place_of_next()),
                _ => return fault,
            }
        }
    }

    /// Keeps the text from here on, for [`Json::rewind`].
    pub(crate) fn hold(&mut self) {
        self.held = Some(self.next);
    }

    /// No text before the next is needed any more.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// Goes back to where [`Json::hold`] was called.
    pub(crate) fn rewind(&mut self) {
        self.next = self.held.take().unwrap_or(self.next);
    }

    /// The place up to which all is taken.
    pub(crate) fn next_place(&self) -> Place {
        self.start.after(&self.text[..self.next])
    }

    /// The place of the next byte that is not white space, or of the end.
    pub(crate) fn place_of_next(&mut self) -> Place {
        let next = usize::from(matches!(self.peek(), Ok(Some(_))));
        self.start.after(&self.text[..self.next + next])
    }

    /// Returns the error that the next byte that is not white space is not allowed here.
    fn syntax(&mut self, what: &str) -> Fault {
        Fault::Syntax(what.to_owned(), self.place_of_next())
    }

    /// Reads more text, as much again as there is; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let unneeded = self.held.unwrap_or(self.next);
        self.start = self.start.after(&self.text[..unneeded]);
        self.text.drain(..unneeded);
        self.next -= unneeded;
        self.held = self.held.map(|_| 0);

        let length = self.text.len();
        if let Some(reader) = &mut self.reader {
            let most = self.block.max(length);
            self.text.reserve(most);
            let read = reader.take(most as u64).read_to_end(&mut self.text);
            if self.text.len() < length + most {
                self.reader = None;
                self.failure = read.err();
            }
        }
        if self.text.len() > length { Ok(true) } else { self.failure.take().map_or(Ok(false), Err) }
    }
}

/// Returns whether the error may be due to text that has not been read yet.
fn may_go_on(text: &[u8], error: &serde_json::Error) -> bool {
    error.is_eof() || error.is_syntax() && ends_in_number(text)
}

/// Whether the next byte may belong to the last value: to `serde_json`, `-` at the end is no number, and `1` is one.
fn ends_in_number(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
}

impl Place {
    fn after(self, text: &[u8]) -> Self {
        match memrchr(b'\n', text) {
            None => Self { column: self.column + text.len(), ..self },
            Some(last) => {
                Self { line: self.line + memchr_iter(b'\n', text).count(), column: text.len() - last - 1 }
            }
        }
    }

    /// An error in the text that starts here.
    fn fault(self, error: &serde_json::Error) -> Fault {
        let column = if error.line() == 1 { self.column } else { 0 };
        let place = Self { line: self.line + error.line() - 1, column: column + error.column() };
        match error.classify() {
            Category::Eof => Fault::End(place),
            Category::Data => Fault::Data(without_place(error), place),
            Category::Io | Category::Syntax => Fault::Syntax(without_place(error), place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::BTreeMap;

    type Lists = BTreeMap<String, Vec<Box<RawValue>>>;

    #[derive(Clone, Copy)]
    struct Expected(&'static str);

    impl Visitor<'_> for Expected {
        type Value = Infallible;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    /// An object of lists, as `serde_json` reads [`Lists`].
    fn lists(json: &mut Json<impl Read>) -> Result<Lists, Fault> {
        let mut lists = Lists::new();
        if json.peek()?.is_some_and(|byte| byte != b'{') {
            return Err(json.refuse(Expected("a map")));
        }
        let mut keys = match json.peek()? {
            None => return Err(Fault::End(json.next_place())),
            Some(_) => json.open(),
        };
        while let Some(key) = json.next_key(&mut keys)? {
            json.colon()?;
            if json.peek()? != Some(b'[') {
                return Err(json.refuse(Expected("a sequence")));
            }
            let (mut list, mut elements) = (Vec::new(), json.open());
            while json.next_element(&mut elements)? {
                list.push(json.value()?);
            }
            lists.insert(key, list);
        }
        Ok(lists)
    }

    fn all_lists(text: &[u8], block: usize) -> Result<Lists, Fault> {
        let mut json = Json::with_block(text, block);
        let lists = lists(&mut json)?;
        if json.peek()?.is_none() {
            return Ok(lists);
        }
        Err(Fault::Syntax("trailing characters".to_owned(), json.place_of_next()))
    }

    /// Whether the text is sound.
    fn is_as_serde_json_reads_it(text: &[u8], block: usize) -> bool {
        let shown = || format!("block {block}: {}", String::from_utf8_lossy(text));
        match (serde_json::from_slice::<Lists>(text), all_lists(text, block)) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{}", shown());
                true
            }
            (Err(theirs), Err(ours)) => {
                let place = Place { line: theirs.line(), column: theirs.column() };
                match ours {
                    Fault::End(ours) => {
                        assert!(theirs.is_eof() && ours == place, "{theirs}: {ours}: {}", shown());
                    }
                    // serde_json has two places for what is wrong with a string, a byte apart.
                    Fault::Syntax(what, ours) => {
                        let is_there = offset(text, ours).abs_diff(offset(text, place)) <= 1;
                        assert!(theirs.is_syntax() && is_there, "{theirs}: {ours}: {}", shown());
                        assert_eq!(what, without_place(&theirs), "{}", shown());
                    }
                    // Its place depends on the type of the value, ours is where the value starts.
                    Fault::Data(what, _) => assert_eq!(what, without_place(&theirs), "{}", shown()),
                    Fault::Reader(error) => panic!("{error}: {}", shown()),
                }
                false
            }
            (theirs, ours) => panic!("{theirs:?}: {ours:?}: {}", shown()),
        }
    }

    fn offset(text: &[u8], place: Place) -> usize {
        let lines = text.split(|byte| *byte == b'\n').take(place.line - 1);
        lines.map(|line| line.len() + 1).sum::<usize>() + place.column
    }

    const SOUND: &str = "{\"a\": [1, -2.5e+3 , \"\\u00e9\\\\\\\"[{\", true],\n\"\\ud83d\\ude00é\":\t[{\"b\":                          {\"]\": [[], {}]}}, null, \"\u{1F600}\", 12345]\r\n, \"\": [] }\n";

    #[test]
    fn text_that_arrives_in_blocks_of_any_size() {
        for block in 1..=SOUND.len() + 1 {
            assert!(is_as_serde_json_reads_it(SOUND.as_bytes(), block), "{block}");
            for length in 0..SOUND.len() {
                let cut = &SOUND.as_bytes()[..length];
                assert_eq!(is_as_serde_json_reads_it(cut, block), length == SOUND.len() - 1, "{length}");
            }
        }
    }

    #[test]
    fn damaged_text_is_refused_as_serde_json_refuses_it() {
        const PIECES: &[u8] =
            b"{|}|[|]|,|:|\"|\\|\\u|\n| |0|-|.|e|null|tru|\"a\":[|\x00|\x80|\xC3\xA9|\xEF\xBB\xBF";
        let pieces: Vec<_> = PIECES.split(|byte| *byte == b'|').collect();
        let mut sound = 0;
        for seed in 0..200_000 {
            let mut rng = Rng::with_seed(seed);
            let mut text = SOUND.as_bytes().to_vec();
            for _ in 0..rng.u32(1..4) {
                let from = rng.usize(..=text.len());
                let to = if rng.bool() { from } else { (from + rng.usize(..8)).min(text.len()) };
                let piece = pieces[rng.usize(..pieces.len())].iter().copied();
                text.splice(from..to, piece).for_each(drop);
            }
            sound += u32::from(is_as_serde_json_reads_it(&text, rng.usize(1..100)));
        }
        assert!(sound > 5_000, "{sound}");
    }

    #[test]
    fn nests_of_any_depth() {
        let depth = 100_000;
        let deep = format!("{{\"a\": [{}{}]}}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_as_serde_json_reads_it(deep.as_bytes(), 1000));
        assert!(!is_as_serde_json_reads_it(&deep.as_bytes()[..depth], 1000));
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Named {
        name: String,
    }

    #[test]
    fn an_object_is_taken_whole_or_not_at_all() {
        for block in 1..80 {
            let text = b"{\"x\": [{}], \"name\": \"a\"} {\"name\": 1} {\"name\": \"b\", \"x\": \"\xFF\"}";
            let mut json = Json::with_block(&text[..], block);
            let mut taken = Vec::new();
            assert!(!json.take_if(|_: Named| false).expect("no failure"));
            assert!(
                json.take_if(|named: Named| {
                    taken.push(named);
                    true
                })
                .expect("no failure")
            );
            assert!(!json.take_if(|_: Named| true).expect("no failure"));
            assert_eq!(json.value().expect("JSON").get(), "{\"name\": 1}");
            assert!(!json.take_if(|_: Named| true).expect("no failure"));
            let fault = json.value().expect_err("not UTF-8");
            let Fault::Syntax(_, Place { line: 1, column: 58 }) = fault else { panic!("{fault:?}") };
            assert_eq!(taken, [Named { name: "a".to_owned() }]);
        }
    }

    /// What was read before the failure is worth as much as without it.
    #[test]
    fn a_failure_is_one_of_the_text_behind() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let mut json = Json::new(b"{\"name\": \"a\"} [1".chain(Failing));
        assert!(json.take_if(|_: Named| true).expect("no failure"));
        let fault = json.value().expect_err("it fails");
        assert!(matches!(&fault, Fault::Reader(error) if error.to_string() == "gone"), "{fault:?}");
    }
}
