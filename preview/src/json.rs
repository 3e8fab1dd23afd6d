//! JSON that arrives in blocks, read value by value. Only the text of the value at hand is held.
//!
//! `serde_json` reads a slice several times as fast as it reads an `io::Read`, which it asks for single bytes. Whether a
//! slice holds all of a value shows when the value is read: if the text ends too early, more is read and the value is tried
//! again.

use crate::error::words;
use memchr::{memchr_iter, memrchr};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer as _, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;
use std::convert::Infallible;
use std::io::{self, Read};

/// How much is read at a time, unless one value is longer: so many objects that few are cut.
const BLOCK: usize = 256 << 10;

/// JSON documents, one after the other.
pub(crate) struct Json<R> {
    /// `None` after its end or its failure.
    reader: Option<R>,
    /// Why the reader failed, until somebody needs more text than there is.
    failure: Option<io::Error>,
    /// What was read and is still needed.
    text: Vec<u8>,
    /// Where in `text` the rest starts that was not taken yet.
    next: usize,
    /// How much before `next` is still needed, if [`Json::hold`] was called.
    held: Option<usize>,
    /// The place of `text` in the whole.
    start: Place,
}

/// A place in a text: how many lines were begun, and how many bytes the last one has up to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    line: usize,
    column: usize,
}

/// What is wrong with JSON, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    what: String,
    /// `None` if the reader failed: it names the place itself, if it knows one.
    place: Option<Place>,
}

/// Whether a list or an object has had its first element.
#[derive(Default)]
pub(crate) struct Elements {
    has_begun: bool,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>, place: Place) -> Self {
        Self { what: what.into(), place: Some(place) }
    }

    pub(crate) fn with_column(self) -> String {
        match self.place {
            Some(Place { line, column }) => format!("{} at line {line} column {column}", self.what),
            None => self.what,
        }
    }

    pub(crate) fn with_line(self) -> String {
        match self.place {
            Some(Place { line, .. }) => format!("{} at line {line}", self.what),
            None => self.what,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self { what: error.to_string(), place: None }
    }
}

impl<R: Read> Json<R> {
    pub(crate) fn new(reader: R) -> Self {
        let start = Place { line: 1, column: 0 };
        Self { reader: Some(reader), failure: None, text: Vec::new(), next: 0, held: None, start }
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

    /// Takes the bracket or brace at which [`Json::peek`] looks.
    pub(crate) fn open(&mut self) -> Elements {
        self.next += 1;
        Elements::default()
    }

    /// Steps to the next element of a list; false at its end.
    pub(crate) fn next_element(&mut self, elements: &mut Elements) -> Result<bool, Fault> {
        let has_begun = std::mem::replace(&mut elements.has_begun, true);
        match self.peek()? {
            Some(b']') => {
                self.next += 1;
                return Ok(false);
            }
            None => return Err(self.fault("EOF while parsing a list")),
            Some(b',') if has_begun => self.next += 1,
            Some(_) if has_begun => return Err(self.fault("expected `,` or `]`")),
            Some(_) => return Ok(true),
        }
        match self.peek()? {
            Some(b']') => Err(self.fault("trailing comma")),
            None => Err(self.fault("EOF while parsing a value")),
            Some(_) => Ok(true),
        }
    }

    /// Takes the next key of an object; `None` at its end.
    pub(crate) fn next_key(&mut self, elements: &mut Elements) -> Result<Option<String>, Fault> {
        let has_begun = std::mem::replace(&mut elements.has_begun, true);
        match self.peek()? {
            Some(b'}') => {
                self.next += 1;
                return Ok(None);
            }
            None => return Err(self.fault("EOF while parsing an object")),
            Some(b',') if has_begun => self.next += 1,
            Some(_) if has_begun => return Err(self.fault("expected `,` or `}`")),
            Some(_) => {}
        }
        match self.peek()? {
            Some(b'"') => {}
            Some(b'}') => return Err(self.fault("trailing comma")),
            None => return Err(self.fault("EOF while parsing a value")),
            Some(_) => return Err(self.fault("key must be a string")),
        }
        let start = self.next_place();
        let key = self.value()?;
        serde_json::from_str(key.get()).map(Some).map_err(|error| start.fault(&error))
    }

    /// Takes the colon behind a key.
    pub(crate) fn colon(&mut self) -> Result<(), Fault> {
        match self.peek()? {
            Some(b':') => {
                self.next += 1;
                Ok(())
            }
            Some(_) => Err(self.fault("expected `:`")),
            None => Err(self.fault("EOF while parsing an object")),
        }
    }

    /// Takes the next value, of any type.
    pub(crate) fn value(&mut self) -> Result<Box<RawValue>, Fault> {
        self.peek()?;
        loop {
            let rest = &self.text[self.next..];
            let value = Box::<RawValue>::deserialize(&mut Deserializer::from_slice(rest));
            let may_go_on = match &value {
                // A number ends where something else begins.
                Ok(value) => value.get().len() == rest.len() && rest.last().is_some_and(u8::is_ascii_digit),
                Err(error) => error.is_eof(),
            };
            if may_go_on && self.fill()? {
                continue;
            }
            let value = value.map_err(|error| self.next_place().fault(&error))?;
            self.next += value.get().len();
            return Ok(value);
        }
    }

    /// Takes the next value if it is an object that reads as a `T` and that `take` takes. It is read just once, but without
    /// a word on what is wrong with it.
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
                Some(Err(error)) if error.is_eof() && self.fill()? => {}
                _ => return Ok(false),
            }
        }
    }

    /// What is wrong with the next value, where another one is expected.
    pub(crate) fn refuse(
        &mut self,
        expected: impl for<'de> Visitor<'de, Value = Infallible> + Copy,
    ) -> Fault {
        loop {
            let rest = &self.text[self.next..];
            let Err(error) = Deserializer::from_slice(rest).deserialize_any(expected);
            if error.is_data() {
                return self.fault(words(&error));
            }
            let fault = self.next_place().fault(&error);
            match error.is_eof().then(|| self.fill()) {
                Some(Ok(true)) => {}
                Some(Err(error)) => return error.into(),
                Some(Ok(false)) | None => return fault,
            }
        }
    }

    /// From here on the text is kept, for [`Json::rewind`].
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

    /// Says what is wrong with the next byte that is not white space, or with the end.
    pub(crate) fn fault(&mut self, what: impl Into<String>) -> Fault {
        let has_next = matches!(self.peek(), Ok(Some(_)));
        Fault::new(what, self.start.after(&self.text[..self.next + usize::from(has_next)]))
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
            let most = BLOCK.max(length);
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
        Fault::new(words(error), Self { line: self.line + error.line() - 1, column: column + error.column() })
    }
}
