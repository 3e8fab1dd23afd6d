//! Every C function, described by its parameters, so that a test can check a promise on all of them: those that take
//! buffers, and those that take only numbers. [`declared`] reads the header, so that a test can compare it with the two lists.

use crate::implementation::record;
use podrank::{Flags, Pod};
use podrank_ffi::*;
use std::ffi::{CStr, c_char};
use std::mem::{align_of, size_of};
use std::slice::Iter;

/// How a function uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It only reads the buffer.
    In,
    /// It only writes the buffer.
    Out,
    /// It reads and writes the buffer.
    InOut,
    /// The buffer holds options: the function only reads it, and accepts NULL.
    Options,
}

/// A buffer that a function takes.
#[derive(Clone)]
pub struct Buffer {
    /// The name of the parameter.
    pub name: &'static str,
    /// How the function uses it.
    pub usage: Use,
    /// The alignment that C asks for.
    pub align: usize,
    /// Its contents before the call. In an output, they are a canary.
    pub bytes: Vec<u8>,
    /// How many elements they are.
    pub count: usize,
    /// The position in [`Function::lens`] of its number of elements. `None` if that number is fixed.
    pub len: Option<usize>,
    /// How many elements the function needs.
    pub least: Least,
    /// Whether it holds pods.
    pub records: bool,
}

/// How many elements a function needs in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// Any number will do.
    Any,
    /// This many.
    Fixed(usize),
    /// One for each element of a list: its length has this position in [`Function::lens`].
    Each(usize),
}

/// Calls a function: with the pointers to its buffers, their lengths, and its other arguments.
pub type Call = unsafe fn(&[*mut u8], &[usize], &[i64]) -> i32;

/// A function with arguments that it accepts.
pub struct Function {
    /// The name of the function.
    pub name: &'static str,
    /// Its buffers, in the order of its parameters.
    pub buffers: Vec<Buffer>,
    /// The lengths of its buffers, in the order of its parameters.
    pub lens: Vec<usize>,
    /// Its other arguments, in the order of its parameters.
    pub numbers: Vec<(&'static str, i64)>,
    /// Calls the function with pointers to the buffers, the lengths and the other arguments, each cut to its C type.
    pub call: Call,
}

/// The arguments of a call, to be taken in the order of the parameters.
struct Given<'a> {
    pointers: Iter<'a, *mut u8>,
    lens: Iter<'a, usize>,
    numbers: Iter<'a, i64>,
}

impl Given<'_> {
    fn pointer<T>(&mut self) -> *mut T {
        self.pointers.next().expect("a pointer for each buffer").cast()
    }

    fn len(&mut self) -> usize {
        *self.lens.next().expect("a length for each list")
    }

    fn number<T: Cut>(&mut self) -> T {
        T::cut(*self.numbers.next().expect("each number"))
    }
}

/// A C type to which a number is cut.
trait Cut {
    fn cut(number: i64) -> Self;
}

macro_rules! cut {
    ($($type:ty)+) => { $(impl Cut for $type {
        fn cut(number: i64) -> Self { number as Self }
    })+ };
}

cut!(u16 u32 i64 usize);

/// The row of a function with its parameters in their order: `one` element, a `list` and its length, a `number`.
macro_rules! function {
    ($name:ident, $($kind:ident($($what:expr),+)),+ $(,)?) => {{
        let mut function = Function::new(stringify!($name), |pointers, lens, numbers| {
            let mut given = Given { pointers: pointers.iter(), lens: lens.iter(), numbers: numbers.iter() };
            // SAFETY: the caller promises it.
            unsafe { function!(@call given $name () $($kind)+) }
        });
        $(function.$kind($($what),+);)+
        function
    }};
    (@call $given:ident $name:ident ($($argument:expr,)*)) => { $name($($argument),*) };
    (@call $given:ident $name:ident ($($argument:expr,)*) one $($rest:ident)*) => {
        function!(@call $given $name ($($argument,)* $given.pointer(),) $($rest)*)
    };
    (@call $given:ident $name:ident ($($argument:expr,)*) list $($rest:ident)*) => {
        function!(@call $given $name ($($argument,)* $given.pointer(), $given.len(),) $($rest)*)
    };
    (@call $given:ident $name:ident ($($argument:expr,)*) number $($rest:ident)*) => {
        function!(@call $given $name ($($argument,)* $given.number(),) $($rest)*)
    };
}

impl Function {
    fn new(name: &'static str, call: Call) -> Self {
        Self { name, buffers: vec![], lens: vec![], numbers: vec![], call }
    }

    fn one(&mut self, buffer: Buffer) {
        assert!(buffer.count == 1 || !buffer.written(), "every list that a function writes has a length");
        self.buffers.push(buffer);
    }

    fn list(&mut self, buffer: Buffer) {
        self.buffers.push(Buffer { len: Some(self.lens.len()), ..buffer });
        self.lens.push(self.buffers[self.buffers.len() - 1].count);
    }

    fn number(&mut self, name: &'static str, value: i64) {
        self.numbers.push((name, value));
    }
}

/// The bytes of records.
pub fn bytes<T>(values: &[T]) -> Vec<u8> {
    // SAFETY: plain integers in repr(C) structs without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }.to_vec()
}

fn input<T>(name: &'static str, values: &[T]) -> Buffer {
    Buffer {
        name,
        usage: Use::In,
        align: align_of::<T>(),
        bytes: bytes(values),
        count: values.len(),
        len: None,
        least: Least::Any,
        records: false,
    }
}

fn text(name: &'static str, text: &str) -> Buffer {
    input(name, text.as_bytes())
}

fn output<T>(name: &'static str, count: usize) -> Buffer {
    let bytes = vec![0xA5; count * size_of::<T>()];
    Buffer { usage: Use::Out, bytes, count, ..input::<T>(name, &[]) }
}

/// What the function also writes.
fn written(buffer: Buffer) -> Buffer {
    Buffer { usage: Use::InOut, ..buffer }
}

fn pods(name: &'static str, count: u32) -> Buffer {
    let pod = |i| Pod { restarts: i * 7 % 5, node: i % 3, rank: 9, flags: Flags::ASSIGNED, ..Pod::new() };
    let pods: Vec<podrank_pod> = (0..count).map(|i| record(&pod(i))).collect();
    Buffer { records: true, ..input(name, &pods) }
}

fn neighbours(name: &'static str, count: u32) -> Buffer {
    let pods: Vec<_> = (0..count).map(|i| podrank_neighbour { set: i * 2 % 3, node: i % 3 }).collect();
    input(name, &pods)
}

/// Pods of which some have to be steered, and some are unsteerable.
fn tiered_pods(name: &'static str, count: u16) -> Buffer {
    let flags = |i| if i % 2 == 0 { Flags::ASSIGNED } else { Flags::NONE };
    let pods: Vec<podrank_pod> =
        (0..count).map(|i| record(&Pod { tier: i, flags: flags(i), ..Pod::new() })).collect();
    Buffer { records: true, ..input(name, &pods) }
}

fn options() -> Buffer {
    let options = podrank_options { size: 16, flags: PODRANK_OPTIONS_NOW, now: 5 };
    Buffer { usage: Use::Options, ..input("options", &[options]) }
}

const FREE: podrank_node_name = podrank_node_name { name: std::ptr::null(), len: 0 };

/// Returns all of them.
pub fn all() -> Vec<Function> {
    let all = [of_pairs(), of_lists(), of_texts(), around_the_order(), of_whole_nodes(), of_odds()];
    all.into_iter().flatten().collect()
}

/// What compares pods, or looks at one.
fn of_pairs() -> Vec<Function> {
    vec![
        function!(
            podrank_compare,
            one(pods("a", 1)),
            one(pods("b", 1)),
            one(options()),
            one(output::<i32>("ordering", 1))
        ),
        function!(
            podrank_decide,
            one(pods("a", 1)),
            one(pods("b", 1)),
            one(options()),
            one(output::<i32>("ordering", 1)),
            one(output::<u8>("rule", 1))
        ),
        function!(
            podrank_explain,
            one(pods("a", 1)),
            one(pods("b", 1)),
            one(options()),
            list(output::<podrank_row>("rows", PODRANK_ROW_MAX).fixed(PODRANK_ROW_MAX)),
            one(output::<usize>("count", 1))
        ),
        function!(
            podrank_key,
            one(pods("pod", 1)),
            one(options()),
            list(output::<u8>("key", PODRANK_KEY_LEN).fixed(PODRANK_KEY_LEN))
        ),
    ]
}

/// What decides about lists of pods.
fn of_lists() -> Vec<Function> {
    vec![
        function!(
            podrank_select,
            list(pods("pods", 7)),
            one(options()),
            list(output::<u32>("victims", 4)),
            list(output::<podrank_scratch>("scratch", 4)),
            one(output::<usize>("selected", 1))
        ),
        function!(
            podrank_sort,
            list(pods("pods", 7)),
            one(options()),
            list(output::<u32>("order", 7).each(0)),
            list(output::<podrank_scratch>("scratch", 4))
        ),
        function!(
            podrank_kubernetes_compare,
            one(pods("a", 1)),
            one(pods("b", 1)),
            one(options()),
            one(output::<i32>("ordering", 1)),
            one(output::<u8>("rule", 1))
        ),
        function!(
            podrank_predict,
            list(pods("pods", 7)),
            one(options()),
            number("k", 3),
            list(output::<u32>("order", 7).each(0)),
            list(output::<u64>("scores", 7).each(0)),
            one(output::<usize>("deleted_len", 1)),
            one(output::<usize>("possible_len", 1))
        ),
        function!(
            podrank_spread,
            list(written(pods("pods", 7))),
            list(pods("others", 5)),
            one(options()),
            list(output::<u32>("counts", 3)),
            list(output::<u32>("scratch", 7).each(0))
        ),
        function!(
            podrank_steer,
            list(tiered_pods("pods", 7)),
            one(options()),
            list(input("prices", &[0_u8, PODRANK_STEER_PRICE_FIXED, 2, 1, 7])),
            list(output::<i32>("costs", 7).each(0)),
            list(output::<podrank_steer_scratch>("scratch", 7).each(0)),
            list(output::<podrank_unsteerable>("unsteerable", 3)),
            one(output::<podrank_steered>("steered", 1))
        ),
        function!(
            podrank_validate,
            list(pods("pods", 7)),
            one(output::<usize>("first_invalid", 1)),
            one(output::<i32>("why", 1))
        ),
        function!(
            podrank_count_ranks,
            list(written(pods("pods", 7))),
            list(pods("others", 5)),
            list(output::<u32>("counts", 3))
        ),
    ]
}

/// What reads a field, or writes it as text.
fn of_texts() -> Vec<Function> {
    vec![
        function!(
            podrank_time_from_unix,
            number("seconds", -2),
            number("nanoseconds", 5),
            one(output::<i64>("time", 1))
        ),
        function!(
            podrank_uid_parse,
            list(text("text", "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01")),
            list(output::<u8>("uid", 16).fixed(16))
        ),
        function!(
            podrank_uid_format,
            one(input("uid", &[0xAB_u8; 16])),
            list(output::<u8>("text", 37).fixed(37))
        ),
        function!(podrank_phase_parse, list(text("text", "Running")), one(output::<u8>("phase", 1))),
        function!(podrank_deletion_cost_parse, list(text("text", "-100")), one(output::<i32>("cost", 1))),
        function!(
            podrank_node_number,
            list(written(input("table", &[FREE; 4]))),
            list(text("name", "worker-1")),
            one(output::<u32>("node", 1))
        ),
    ]
}

/// What empties nodes.
fn of_whole_nodes() -> Vec<Function> {
    vec![
        function!(
            podrank_node_weights,
            list(written(neighbours("neighbours", 5))),
            list(written(input("weights", &[1_u64, 0, 7])))
        ),
        function!(
            podrank_empty_nodes,
            list(written(pods("pods", 7))),
            list(input("weights", &[5_u64, 0, 5])),
            list(input("domains", &[0_u32, 1, 1, 2, 4, 3])),
            list(output::<u32>("counts", 8).each(1)),
            list(output::<podrank_empty_nodes_scratch>("scratch", 7).each(0))
        ),
    ]
}

/// The functions for a controller's other decisions.
fn around_the_order() -> Vec<Function> {
    let key = |byte| podrank_pod_key { bytes: [byte; 16] };
    // Two creations and three deletions are pending.
    let expected = podrank_expectations { since: 5, creations: 2, deletions: 3, keys: 3, is_set: 1 };
    let state =
        podrank_plan_state { desired: 3, active: 5, burst_replicas: 500, flags: PODRANK_PLAN_SATISFIED };
    let expectations = || input("expectations", &[expected]);
    let key_storage = || written(input("key_storage", &[key(1), key(2), key(3), key(0)]));
    vec![
        function!(
            podrank_plan,
            one(input("state", &[state])),
            one(output::<u32>("creations", 1)),
            one(output::<u32>("deletions", 1))
        ),
        function!(
            podrank_slow_start_begin,
            number("count", 7),
            one(output::<podrank_slow_start>("start", 1))
        ),
        function!(
            podrank_slow_start_report,
            one(written(input("start", &[podrank_slow_start { batch: 2, missing: 6 }]))),
            number("failures", 1)
        ),
        function!(
            podrank_expectations_expect_creations,
            one(written(expectations())),
            number("count", 7),
            number("now", 9)
        ),
        function!(
            podrank_expectations_expect_deletions,
            one(written(expectations())),
            list(key_storage()),
            list(input("keys", &[key(7), key(8), key(7)])),
            number("now", 9)
        ),
        function!(podrank_expectations_creations_observed, one(written(expectations())), number("count", 1)),
        function!(
            podrank_expectations_deletion_observed,
            one(written(expectations())),
            list(key_storage()),
            one(input("key", &[key(2)])),
            one(output::<i32>("counted", 1))
        ),
        function!(
            podrank_expectations_satisfied,
            one(expectations()),
            number("now", 9),
            one(output::<i32>("satisfied", 1))
        ),
        function!(
            podrank_availability,
            list(pods("pods", 7)),
            number("min_ready_seconds", 10),
            number("now", 9),
            one(output::<usize>("ready", 1)),
            one(output::<usize>("available", 1)),
            one(output::<u64>("next_check_after", 1))
        ),
    ]
}

/// How lists are sorted, and what that makes of pods.
fn of_odds() -> Vec<Function> {
    vec![
        function!(
            podrank_probabilities,
            list(pods("pods", 7)),
            one(options()),
            number("k", 3),
            number("samples", 64),
            list(output::<u32>("order", 7).each(0)),
            list(output::<podrank_probability>("probabilities", 7).each(0)),
            list(output::<podrank_probability_scratch>("scratch", 7).each(0)),
            one(output::<usize>("deleted_len", 1)),
            one(output::<usize>("possible_len", 1))
        ),
        function!(
            podrank_kubernetes_sort,
            list(pods("pods", 7)),
            one(options()),
            list(written(input("list", &[6_u32, 2, 4, 0]))),
            list(output::<podrank_probability_scratch>("scratch", 4).each(1))
        ),
    ]
}

/// A function that takes no buffer, so that it has no status.
pub struct Plain {
    /// The name of the function.
    pub name: &'static str,
    /// The names of its arguments.
    pub numbers: &'static [&'static str],
    /// Calls the function with these arguments, each cut to its C type, and panics if what it returns is not sound.
    pub call: fn(&[i64]),
}

/// Returns all functions that take no buffer.
pub fn plain() -> [Plain; 5] {
    /// NULL or a text.
    fn words(text: *const c_char) {
        // SAFETY: the functions return NULL or a static text.
        assert!(
            text.is_null() || unsafe { CStr::from_ptr(text) }.to_str().is_ok_and(|text| !text.is_empty())
        );
    }
    let of = |name, numbers, call: fn(&[i64])| Plain { name, numbers, call };
    [
        of("podrank_version", &[], |_| words(podrank_version())),
        of("podrank_key_format", &[], |_| assert_eq!(podrank_key_format(), PODRANK_KEY_FORMAT)),
        of("podrank_abi_1", &[], |_| assert_eq!(podrank_abi_1(), PODRANK_ABI)),
        of("podrank_rule_str", &["rule"], |x| words(podrank_rule_str(x[0] as u8))),
        of("podrank_status_str", &["status"], |x| words(podrank_status_str(x[0] as i32))),
    ]
}

/// What a header says about one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The name of the function.
    pub name: String,
    /// The names of the parameters that are pointers, each with whether the function may write there.
    pub buffers: Vec<(String, bool)>,
    /// How many parameters are lengths: those whose name ends with `_len`.
    pub lens: usize,
    /// The names of the other parameters.
    pub numbers: Vec<String>,
}

/// Returns the functions that a header declares, in its order. A declaration starts at the start of a line and ends with `);`.
pub fn declared(header: &str) -> Vec<Declared> {
    let mut functions = Vec::new();
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        let Some((head, parameters)) = line.split_once('(') else { continue };
        let name = head.rsplit([' ', '*']).next().unwrap_or_default();
        if !head.starts_with(|first: char| first.is_ascii_lowercase()) || !name.starts_with("podrank_") {
            continue;
        }
        let mut parameters = parameters.to_owned();
        while !parameters.ends_with(");") {
            parameters += lines.next().expect("the end of a declaration");
        }
        let mut function = Declared { name: name.to_owned(), ..Declared::default() };
        let parameters = parameters.trim_end_matches(");").split(',').map(str::trim);
        for parameter in parameters.filter(|parameter| *parameter != "void") {
            let name = parameter.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
            if parameter.contains('*') {
                function.buffers.push((name, !parameter.starts_with("const ")));
            } else if name.ends_with("_len") {
                function.lens += 1;
            } else {
                function.numbers.push(name);
            }
        }
        functions.push(function);
    }
    functions
}

impl Buffer {
    /// The buffer, of which the function needs one element for each of a list.
    fn each(self, list: usize) -> Self {
        Self { least: Least::Each(list), ..self }
    }

    /// The buffer, of which the function needs this many elements.
    fn fixed(self, least: usize) -> Self {
        Self { least: Least::Fixed(least), ..self }
    }

    /// How many elements the function needs with these lengths.
    pub fn least(&self, lens: &[usize]) -> usize {
        match self.least {
            Least::Any => 0,
            Least::Fixed(count) => count,
            Least::Each(list) => lens[list],
        }
    }

    /// Whether the function writes the buffer.
    pub fn written(&self) -> bool {
        matches!(self.usage, Use::Out | Use::InOut)
    }
}
