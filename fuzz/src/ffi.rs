//! `ffi`: the C functions with raw bytes as records and options, any other arguments, and null, misaligned, overlapping,
//! short and endless buffers.
//!
//! The target works out from the arguments alone what is wrong with a call. If nothing is wrong, the call must give the
//! answers of the naive implementations. If something is wrong, the status must say so. No byte may change that is not an output.
//!
//! All buffers are in one block, with canaries between them, so that they can overlap. Each buffer is sometimes the last
//! in the block, so that `AddressSanitizer` finds an access beyond it.

mod controller;

use crate::case::{self, Case, extended};
use crate::{cost, uid};
use arbitrary::{Result, Unstructured};
use podrank::{
    EmptyNodesScratch, Flags, Neighbour, Odds, Phase, Pod, Policy, Relation, Rule, SteerError, Time, Uid,
};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_laws::generate::NOW;
use podrank_laws::{Core, Implementation, empty, laws, oracle, relation, spread};
use podrank_through_c::functions::{self, Buffer, Function, Use};
use podrank_through_c::implementation::{C, options, record};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::LazyLock;

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(functions::all);

/// The bytes between the buffers.
const CANARY: u8 = 0x5A;
/// An aligned address just below the end of the address space.
const ALMOST_THE_END: usize = usize::MAX - 63;

/// The target.
pub fn run(data: &[u8]) {
    let bytes = extended(data, 1024);
    run_with(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    let mut call = call(u)?;
    if u.ratio(1, 2)? {
        call.spoil(u)?;
    }
    call.check();
    Ok(())
}

/// Returns the function that these bytes call, the lengths of its buffers and its numbers, before anything is spoilt. The first byte
/// is the place of the function in [`functions::all`], so a finding keeps its function as long as others are added at the end.
pub fn called(data: &[u8]) -> (&'static str, Vec<usize>, Vec<i64>) {
    let bytes = extended(data, 1024);
    let call = call(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
    (call.function.name, call.lens.clone(), call.numbers.clone())
}

fn call(u: &mut Unstructured<'_>) -> Result<Call<'static>> {
    let function = u.choose(&FUNCTIONS)?;
    if u.ratio(1, 8)? {
        let salt: u64 = u.arbitrary()?;
        let Case { policy, pods, k, .. } = Case::of(&salt.to_ne_bytes(), 1..=40);
        let pods: Vec<Pod> = pods.iter().map(|pod| sound(*pod)).collect();
        laws::one_answer(&C, &policy, &pods[0], &pods[pods.len() - 1]);
        laws::relation_is_upstreams(&C, &policy, &pods[0], &pods[pods.len() - 1]);
        laws::total_order(&C, &policy, &pods);
        laws::selects_a_prefix(&C, &policy, &pods, k);
        laws::settles_as_all_pairs_say(&C, &policy, &pods, k);
    }
    Call::new(function, u)
}

/// Returns a valid record: the parts that C would reject are left out.
pub(crate) fn sound(pod: Pod) -> Pod {
    let phase = Phase::from_ordinal(pod.phase.ordinal() % 3);
    Pod { phase, flags: Flags::from_bits(pod.flags.bits() & 7), reserved: Pod::new().reserved, ..pod }
}

/// One block of memory, freed with the call.
struct Block {
    start: *mut u8,
    layout: Layout,
}

impl Block {
    fn new(len: usize) -> Self {
        let layout = Layout::from_size_align(len.max(1), 64).expect("a small block");
        // SAFETY: the size is not 0; all of it is written.
        unsafe {
            let start = alloc(layout);
            if start.is_null() {
                handle_alloc_error(layout);
            }
            start.write_bytes(CANARY, layout.size());
            Self { start, layout }
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: allocated and written in this length; nothing writes while the slice lives.
        unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated so.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// A function and its arguments.
struct Call<'f> {
    function: &'f Function,
    block: Block,
    pointers: Vec<*mut u8>,
    lens: Vec<usize>,
    numbers: Vec<i64>,
    /// The length of each buffer in bytes, as the call has it: more than there is after [`Call::spoil`].
    sizes: Vec<u128>,
}

impl<'f> Call<'f> {
    /// A call whose buffers are all valid. Their contents may be invalid.
    fn new(function: &'f Function, u: &mut Unstructured<'_>) -> Result<Self> {
        let lens =
            function.lens.iter().map(|&len| Ok(if u.ratio(1, 2)? { len } else { u.int_in_range(0..=len)? }));
        let mut lens = lens.collect::<Result<Vec<usize>>>()?;
        // Rarely shorter than the function needs.
        for buffer in &function.buffers {
            let least = buffer.least(&lens);
            if let Some(len) = buffer.len.filter(|_| !matches!(u.ratio(1, 16), Ok(true))) {
                lens[len] = lens[len].max(least);
            }
        }
        let numbers =
            function.numbers.iter().map(|(name, _)| number(name, u)).collect::<Result<Vec<i64>>>()?;
        let mut contents = Vec::new();
        for buffer in &function.buffers {
            let count = buffer.len.map_or(1, |len| lens[len]);
            contents.push(content(function, buffer, count * element(function, buffer), &numbers, u)?);
        }
        // Their order, and the gaps between them.
        let turn = u.int_in_range(0..=contents.len() - 1)?;
        let mut end = 0_usize;
        let mut offsets = vec![0; contents.len()];
        for i in (0..contents.len()).map(|i| (i + turn) % contents.len()) {
            let gap = if end == 0 { 0 } else { usize::from(u.int_in_range(0..=2_u8)?) };
            offsets[i] = (end + gap).next_multiple_of(function.buffers[i].align);
            end = offsets[i] + contents[i].len();
        }
        let block = Block::new(end);
        let mut pointers = Vec::new();
        for (content, offset) in contents.iter().zip(offsets) {
            let pointer = block.start.wrapping_add(offset);
            // SAFETY: laid out inside the block.
            unsafe { pointer.copy_from(content.as_ptr(), content.len()) };
            pointers.push(pointer);
        }
        let sizes = contents.iter().map(|content| content.len() as u128).collect();
        Ok(Self { function, block, pointers, lens, numbers, sizes })
    }

    /// Makes one of its buffers wrong. By chance it may still be right.
    fn spoil(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        // Leaves space for a buffer that is moved, because the call may read it before it is rejected.
        let mut wider = Block::new(self.block.layout.size() + 2048);
        std::mem::swap(&mut self.block, &mut wider);
        // SAFETY: the new block is larger.
        unsafe { self.block.start.copy_from(wider.start, wider.layout.size()) };
        for pointer in &mut self.pointers {
            *pointer = self.block.start.wrapping_add(pointer.addr() - wider.start.addr());
        }
        let i = u.choose_index(self.pointers.len())?;
        let buffer = &self.function.buffers[i];
        match u.int_in_range(0..=4_u8)? {
            0 => self.pointers[i] = null_mut(),
            1 if buffer.align > 1 => {
                self.pointers[i] = self.pointers[i].wrapping_add(u.int_in_range(1..=buffer.align - 1)?);
            }
            2 if !self.lens.is_empty() => {
                let len = u.choose_index(self.lens.len())?;
                self.lens[len] = *u.choose(&[u32::MAX as usize + 1, isize::MAX as usize, usize::MAX])?;
                for (buffer, size) in self.function.buffers.iter().zip(&mut self.sizes) {
                    if buffer.len == Some(len) {
                        *size = element(self.function, buffer) as u128 * self.lens[len] as u128;
                    }
                }
            }
            3 if self.sizes[i] > 64 && buffer.usage != Use::Options => {
                self.pointers[i] = ALMOST_THE_END as *mut u8;
            }
            // By the caller's promise, the table of node names starts from zeros.
            _ if buffer.name == "table" => {}
            // Options contain their length, which would differ elsewhere. Other buffers are moved onto them instead.
            _ if buffer.usage == Use::Options => {}
            _ => {
                // Onto another buffer, or close to it.
                let other = u.choose_index(self.pointers.len())?;
                let size = usize::try_from(self.sizes[other]).unwrap_or(0);
                let within = u.int_in_range(0..=size)?;
                let moved = self.pointers[other].wrapping_add(within);
                self.pointers[i] = moved.wrapping_sub(moved.addr() % buffer.align);
            }
        }
        Ok(())
    }

    fn span(&self, i: usize) -> Range<u128> {
        let start = self.pointers[i].addr() as u128;
        start..start + self.sizes[i]
    }

    /// Returns the range of a buffer in the block. `None` if it is not inside the block.
    fn place(&self, i: usize) -> Option<Range<usize>> {
        let start = self.pointers[i].addr().checked_sub(self.block.start.addr())?;
        let end = start.checked_add(usize::try_from(self.sizes[i]).ok()?)?;
        (end <= self.block.layout.size()).then_some(start..end)
    }

    /// Returns the statuses that say what is wrong with the pointers and lengths.
    fn wrong_buffers(&self) -> BTreeSet<i32> {
        let mut wrong = BTreeSet::new();
        for (i, buffer) in self.function.buffers.iter().enumerate() {
            if buffer.len.is_some_and(|len| self.lens[len] < buffer.least(&self.lens)) {
                wrong.insert(PODRANK_ERR_SHORT_BUFFER);
            }
            if self.sizes[i] == 0 || buffer.usage == Use::Options && self.pointers[i].is_null() {
                continue;
            }
            if self.pointers[i].is_null() {
                wrong.insert(PODRANK_ERR_NULL);
            } else if !self.pointers[i].addr().is_multiple_of(buffer.align) {
                wrong.insert(PODRANK_ERR_MISALIGNED);
            }
            let count = buffer.len.map_or(1, |len| self.lens[len]);
            if u32::try_from(count).is_err() || self.span(i).end > usize::MAX as u128 {
                wrong.insert(PODRANK_ERR_TOO_LONG);
            }
            for (j, other) in self.function.buffers.iter().enumerate().filter(|(j, _)| *j != i) {
                let is_there = other.usage != Use::Options || !self.pointers[j].is_null();
                let (a, b) = (self.span(i), self.span(j));
                if buffer.written() && is_there && a.start.max(b.start) < a.end.min(b.end) {
                    wrong.insert(PODRANK_ERR_OVERLAP);
                }
            }
        }
        wrong
    }

    /// Makes the call. Checks its status, its outputs and which bytes it changed.
    fn check(&self) {
        let before = self.block.bytes().to_vec();
        let content = |name: &str| {
            let i = self.function.buffers.iter().position(|buffer| buffer.name == name)?;
            // An empty buffer may be NULL, or anywhere.
            if self.sizes[i] == 0 { Some(&[][..]) } else { before.get(self.place(i)?) }
        };
        let mut wrong = self.wrong_buffers();
        let spoilt = !wrong.is_empty();
        let policy = policy(content("options"), &mut wrong);
        let question = Question {
            function: self.function,
            policy,
            content: &content,
            lens: &self.lens,
            numbers: &self.numbers,
        };
        let expected = question.expected(&mut wrong, spoilt);

        // SAFETY: the buffers are as long as the lengths say, or the call is to be refused before it looks.
        let status = unsafe { (self.function.call)(&self.pointers, &self.lens, &self.numbers) };
        let name = self.function.name;
        if wrong.is_empty() {
            assert_eq!(status, PODRANK_OK, "{name}: {}", meaning(status));
        } else {
            assert!(wrong.contains(&status), "{name}: {}, expected one of {wrong:?}", meaning(status));
        }
        let after = self.block.bytes();
        let mut may_change = vec![false; before.len()];
        for (i, buffer) in self.function.buffers.iter().enumerate() {
            let is_scratch = ["scratch", "scores", "counts"].contains(&buffer.name);
            let is_output = status == PODRANK_OK && buffer.written();
            // With this error, one output is written.
            let names_pods = status == PODRANK_ERR_NO_ROOM && buffer.name == "steered";
            // A call that is rejected because of its buffers has not begun.
            if let Some(place) = self.place(i).filter(|_| is_output || names_pods || is_scratch && !spoilt) {
                may_change[place].fill(true);
            }
        }
        for ((at, may_change), (before, after)) in may_change.iter().enumerate().zip(before.iter().zip(after))
        {
            assert!(*may_change || before == after, "{name}: byte {at} changed, {}", meaning(status));
        }
        if status == PODRANK_OK {
            self.check_outputs(&expected);
            if name == "podrank_key" {
                self.check_key(&policy, &pods(content("pod"), &mut wrong)[0]);
            }
            if name == "podrank_node_number" {
                self.check_node_number();
            }
        }
    }

    fn check_outputs(&self, expected: &[(&str, Vec<u8>)]) {
        // An empty output may be NULL, or anywhere.
        for (name, expected) in expected.iter().filter(|(_, expected)| !expected.is_empty()) {
            let i = self.function.buffers.iter().position(|buffer| buffer.name == *name);
            let place = self.place(i.expect("an output of this name")).expect("a sound call");
            let written = &self.block.bytes()[place][..expected.len()];
            assert_eq!(written, expected, "{}: {name}", self.function.name);
        }
    }

    /// The key compares with the keys of other pods as the oracle compares the pods.
    fn check_key(&self, policy: &Policy, pod: &Pod) {
        let key = &self.block.bytes()[self.place(2).expect("a sound call")];
        let one_more = |byte: u8| byte.wrapping_add(1);
        let mut others = vec![
            *pod,
            Pod { flags: Flags::from_bits(pod.flags.bits() ^ 1), ..*pod },
            Pod { flags: Flags::from_bits(pod.flags.bits() ^ 2), ..*pod },
            Pod { flags: Flags::from_bits(pod.flags.bits() ^ 4), ..*pod },
            Pod { phase: Phase::from_ordinal(one_more(pod.phase.ordinal()) % 3), ..*pod },
            Pod { deletion_cost: pod.deletion_cost.wrapping_add(1), ..*pod },
            Pod { rank: pod.rank.wrapping_add(1), ..*pod },
            Pod { restarts: pod.restarts.wrapping_add(1), ..*pod },
            Pod { sidecar_restarts: pod.sidecar_restarts.wrapping_add(1), ..*pod },
            Pod { ready_time: pod.creation_time, ..*pod },
            Pod { creation_time: pod.ready_time, ..*pod },
            Pod { ready_time: Time::MAX, creation_time: Time::MAX, ..*pod },
        ];
        others.extend((0..16).map(|place| {
            let mut bytes = pod.uid.to_bytes();
            bytes[place] = one_more(bytes[place]);
            Pod { uid: Uid::from_bytes(bytes), ..*pod }
        }));
        for other in others {
            let ordering = key.cmp(&C.key(policy, &other)[..]);
            assert_eq!(ordering, oracle::compare(policy, pod, &other), "key: {policy:?} {pod:?} {other:?}");
        }
    }

    /// The slot with this number has the name, and the name gets the same number again.
    fn check_node_number(&self) {
        let number = || u32::from_ne_bytes(array(&self.block.bytes()[self.place(2).expect("a sound call")]));
        let node = number();
        assert!((node as usize) < self.lens[0], "{node}");
        let slot = self.pointers[0].wrapping_add(node as usize * size_of::<podrank_node_name>());
        // SAFETY: the table is there, and this slot is in it.
        let slot = unsafe { slot.cast::<podrank_node_name>().read_unaligned() };
        assert_eq!((slot.name.cast_mut().cast(), slot.len), (self.pointers[1], self.lens[1]));
        // SAFETY: as before.
        assert_eq!(unsafe { (self.function.call)(&self.pointers, &self.lens, &self.numbers) }, PODRANK_OK);
        assert_eq!(number(), node);
    }
}

/// Returns the size of one element of a buffer, or of the whole buffer if its length is fixed.
fn element(function: &Function, buffer: &Buffer) -> usize {
    buffer.len.map_or(buffer.bytes.len(), |len| buffer.bytes.len() / function.lens[len])
}

/// A value for an argument that is not a buffer, by its name.
fn number(name: &str, u: &mut Unstructured<'_>) -> Result<i64> {
    Ok(match name {
        "k" => *u.choose(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 1 << 32, i64::MAX, -1])?,
        "count" | "failures" => *u.choose(&[0, 1, 1, 2, 3, 7, 500, u32::MAX.into()])?,
        "min_ready_seconds" => *u.choose(&[0, 1, 10, 10, 86_400, u32::MAX.into()])?,
        "now" => *u.choose(&[9, NOW, -NOW, -1, PODRANK_TIME_UNSET, i64::MIN + 1, i64::MAX])?,
        "seconds" => {
            let seconds: i64 = u.arbitrary()?;
            seconds >> u.choose(&[0, 30, 34])?
        }
        "nanoseconds" => u.arbitrary::<u32>()?.into(),
        other => panic!("no values for {other}"),
    })
}

/// A buffer's contents before the call.
fn content(
    function: &Function,
    buffer: &Buffer,
    size: usize,
    numbers: &[i64],
    u: &mut Unstructured<'_>,
) -> Result<Vec<u8>> {
    let mut bytes = buffer.bytes[..size].to_vec();
    let number = |name| function.numbers.iter().zip(numbers).find(|((other, _), _)| *other == name);
    let now = number("now").map_or(NOW, |(_, now)| *now);
    if let Some(content) = controller::content(buffer, size, now, u)? {
        return Ok(content);
    }
    if buffer.usage == Use::Options {
        return some_options(u);
    } else if buffer.records {
        for chunk in bytes.chunks_exact_mut(size_of::<podrank_pod>()) {
            let mut pod = case::pod(u, now)?;
            if let Some((_, seconds)) = number("min_ready_seconds") {
                pod = controller::ready_time(&pod, *seconds, now, u)?;
            }
            chunk.copy_from_slice(&functions::bytes(&[record(&Pod { node: pod.node % 4, ..pod })]));
            match u.arbitrary::<u8>()? {
                0..=3 => chunk[52] = u.arbitrary()?,
                4..=7 => chunk[53] = u.arbitrary()?,
                8..=11 => chunk[56 + usize::from(u.int_in_range(0..=7_u8)?)] = u.arbitrary()?,
                12 => u.fill_buffer(chunk)?,
                _ => {}
            }
        }
    } else if buffer.name == "prices" && u.ratio(1, 2)? {
        u.fill_buffer(&mut bytes)?;
    } else if function.name == "podrank_phase_parse" && buffer.name == "text" {
        let texts = ["Running", "Unknown", "Pending", "running", "Failed", "Succeeded", ""];
        let text = u.choose(&texts)?.as_bytes();
        let shorter = size.min(text.len());
        bytes[..shorter].copy_from_slice(&text[..shorter]);
    } else if ["text", "uid", "name"].contains(&buffer.name)
        && buffer.usage == Use::In
        && u.ratio(1, 4)?
        && let Some(at) = u.int_in_range(0..=255_usize)?.checked_rem(bytes.len())
    {
        bytes[at] = u.arbitrary()?;
    }
    Ok(bytes)
}

/// Options of any size, inside the block, and mostly valid.
fn some_options(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let policy = case::policy(u)?;
    let sound = options(&policy);
    let size = match u.int_in_range(0..=9_u8)? {
        0 => u.arbitrary()?,
        1 => u.int_in_range(0..=1100_u32)?,
        2 => *u.choose(&[15, 17, 24, 1024, 1025])?,
        _ => 16,
    };
    let flags = if u.ratio(1, 10)? { u.arbitrary()? } else { sound.flags };
    let there = if size <= PODRANK_OPTIONS_SIZE_MAX { size.max(16) } else { 16 };
    let mut bytes = vec![0; there as usize];
    bytes[..4].copy_from_slice(&size.to_ne_bytes());
    bytes[4..8].copy_from_slice(&flags.to_ne_bytes());
    bytes[8..16].copy_from_slice(&sound.now.to_ne_bytes());
    if let (true, Some(last)) = (u.ratio(1, 4)?, bytes[16..].last_mut()) {
        *last = u.arbitrary()?;
    }
    Ok(bytes)
}

/// Returns the policy that options stand for, read as the header documents them. Adds what is wrong with them to `wrong`.
fn policy(options: Option<&[u8]>, wrong: &mut BTreeSet<i32>) -> Policy {
    let Some(options) = options else { return Policy::without_now() };
    let ([size, flags], [now]) = (words(options, [0, 4]), longs(options, [8]));
    let beyond = options.get(16..size as usize);
    let is_odd = beyond.is_none_or(|beyond| beyond.iter().any(|&byte| byte != 0));
    let has_now = flags & PODRANK_OPTIONS_NOW != 0;
    refuse(
        wrong,
        [
            (size > PODRANK_OPTIONS_SIZE_MAX || is_odd, PODRANK_ERR_OPTIONS_SIZE),
            (flags >= 16, PODRANK_ERR_OPTIONS_FLAGS),
            (!has_now && now != 0, PODRANK_ERR_OPTIONS_NOW),
        ],
    );
    let mut policy = Policy::without_now();
    if has_now {
        policy.now = time(now);
    }
    policy.gates.pod_deletion_cost = flags & PODRANK_OPTIONS_POD_DELETION_COST_OFF == 0;
    policy.gates.logarithmic_scale_down = flags & PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF == 0;
    policy.gates.prefer_for_scale_down = flags & PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON != 0;
    policy
}

fn time(nanos: i64) -> Time {
    if nanos == PODRANK_TIME_UNSET { Time::UNSET } else { Time::from_unix_nanos(nanos) }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes[..N].try_into().expect("enough bytes")
}

/// The fields of a record at these places.
fn words<const N: usize>(bytes: &[u8], places: [usize; N]) -> [u32; N] {
    places.map(|at| u32::from_ne_bytes(array(&bytes[at..])))
}

fn ints<const N: usize>(bytes: &[u8], places: [usize; N]) -> [i32; N] {
    words(bytes, places).map(u32::cast_signed)
}

fn longs<const N: usize>(bytes: &[u8], places: [usize; N]) -> [i64; N] {
    places.map(|at| i64::from_ne_bytes(array(&bytes[at..])))
}

/// Adds each status whose reason is there.
fn refuse<const N: usize>(wrong: &mut BTreeSet<i32>, reasons: [(bool, i32); N]) {
    wrong.extend(reasons.into_iter().filter(|(is_there, _)| *is_there).map(|(_, status)| status));
}

/// Returns the records in a buffer, read field by field. Adds what is invalid in them to `wrong`.
fn pods(bytes: Option<&[u8]>, wrong: &mut BTreeSet<i32>) -> Vec<Pod> {
    let records = bytes.unwrap_or_default().chunks_exact(64);
    let pods = records.map(|bytes| {
        wrong.extend(unsound(bytes));
        let [ready_time, creation_time] = longs(bytes, [16, 24]).map(time);
        let [rank, restarts, sidecar_restarts, node] = words(bytes, [36, 40, 44, 48]);
        Pod {
            uid: Uid::from_bytes(array(bytes)),
            ready_time,
            creation_time,
            deletion_cost: ints(bytes, [32])[0],
            rank,
            restarts,
            sidecar_restarts,
            node,
            phase: Phase::from_ordinal(bytes[52]),
            flags: Flags::from_bits(bytes[53]),
            tier: u16::from_ne_bytes(array(&bytes[54..])),
            ..Pod::new()
        }
    });
    pods.collect()
}

fn unsound(bytes: &[u8]) -> Option<i32> {
    match (bytes[52], bytes[53], &bytes[56..]) {
        (3.., ..) => Some(PODRANK_ERR_PHASE),
        (_, 8.., _) => Some(PODRANK_ERR_FLAGS),
        (.., reserved) if reserved != [0; 8] => Some(PODRANK_ERR_RESERVED),
        _ => None,
    }
}

/// A call's arguments, as the naive implementations need them.
struct Question<'a> {
    function: &'a Function,
    policy: Policy,
    /// Returns a buffer's contents, by its name. `None` if it is not inside the block.
    content: &'a dyn Fn(&str) -> Option<&'a [u8]>,
    lens: &'a [usize],
    numbers: &'a [i64],
}

type Outputs = Vec<(&'static str, Vec<u8>)>;

impl Question<'_> {
    /// The value of an argument that is not a buffer, by its name.
    fn number(&self, name: &str) -> i64 {
        let numbers = self.function.numbers.iter().zip(self.numbers);
        let mut named = numbers.filter(|((other, _), _)| *other == name);
        *named.next().expect("an argument of this name").1
    }

    /// Returns what the outputs must start with. Adds the reasons for which there must be none to `wrong`.
    fn expected(&self, wrong: &mut BTreeSet<i32>, spoilt: bool) -> Outputs {
        let pods = |name: &str, wrong: &mut BTreeSet<i32>| pods((self.content)(name), wrong);
        match self.function.name {
            "podrank_compare" | "podrank_decide" | "podrank_explain" | "podrank_upstream" => {
                match (&pods("a", wrong)[..], &pods("b", wrong)[..]) {
                    ([a], [b]) => self.pair(a, b),
                    _ => Vec::new(),
                }
            }
            "podrank_key" => {
                pods("pod", wrong);
                // Its bytes are private: see `check_key`.
                Vec::new()
            }
            "podrank_select"
            | "podrank_sort"
            | "podrank_settle"
            | "podrank_odds"
            | "podrank_upstream_sort" => {
                let pods = pods("pods", wrong);
                if spoilt { Vec::new() } else { self.list(&pods) }
            }
            "podrank_validate" => {
                let records = (self.content)("pods").unwrap_or_default().chunks_exact(64);
                let first = records.map(unsound).enumerate().find(|(_, why)| why.is_some());
                let (index, why) = first.unwrap_or((self.lens[0], None));
                vec![
                    ("first_unsound", index.to_ne_bytes().to_vec()),
                    ("why", why.unwrap_or(PODRANK_OK).to_ne_bytes().to_vec()),
                ]
            }
            "podrank_count_ranks" | "podrank_spread" => {
                let (own, others) = (pods("pods", wrong), pods("others", wrong));
                self.ranks(own, &others, wrong)
            }
            "podrank_node_weights" => self.node_weights(wrong),
            "podrank_empty_nodes" => {
                let pods = pods("pods", wrong);
                if spoilt { Vec::new() } else { self.empty_nodes(pods, wrong) }
            }
            "podrank_steer" => {
                let pods = pods("pods", wrong);
                if spoilt { Vec::new() } else { self.steer(&pods, wrong) }
            }
            "podrank_node_number" => {
                wrong.extend((self.lens[1] == 0).then_some(PODRANK_ERR_NODE_NAME));
                wrong.extend((self.lens[0] == 0).then_some(PODRANK_ERR_NODES_FULL));
                Vec::new()
            }
            _ => {
                let pods = pods("pods", wrong);
                self.controller(&pods, wrong).unwrap_or_else(|| self.text(wrong))
            }
        }
    }

    fn pair(&self, a: &Pod, b: &Pod) -> Outputs {
        let orderings = oracle::orderings(&self.policy, a, b);
        let first = orderings.iter().find(|(_, ordering)| ordering.is_ne());
        let number = |rule: Option<Rule>| vec![rule.map_or(PODRANK_RULE_NONE, Rule::number)];
        let ordering = first.map_or(0, |(_, ordering)| *ordering as i32).to_ne_bytes().to_vec();
        match self.function.name {
            "podrank_compare" => vec![("ordering", ordering)],
            "podrank_decide" => vec![("ordering", ordering), ("rule", number(first.map(|(rule, _)| *rule)))],
            "podrank_upstream" => {
                let (relation, rule) = relation::relation(&self.policy, a, b);
                let ordering = match relation {
                    Relation::Before => -1_i32,
                    Relation::Tie => 0,
                    Relation::After => 1,
                };
                vec![("ordering", ordering.to_ne_bytes().to_vec()), ("rule", number(rule))]
            }
            _ => {
                let rows = oracle::rows(&self.policy, a, b).into_iter().map(|row| {
                    let (a, b) = (row.a.to_ne_bytes(), row.b.to_ne_bytes());
                    let bytes = [row.rule.number(), row.applies.into(), row.decides.into(), row.kind as u8];
                    [&a[..], &b[..], &bytes[..], &(row.ordering as i32).to_ne_bytes()[..]].concat()
                });
                vec![
                    ("rows", rows.collect::<Vec<_>>().concat()),
                    ("count", orderings.len().to_ne_bytes().to_vec()),
                ]
            }
        }
    }

    fn list(&self, pods: &[Pod]) -> Outputs {
        let bytes = |indices: &[u32]| indices.iter().flat_map(|index| index.to_ne_bytes()).collect();
        let order = oracle::sort(&self.policy, pods);
        match self.function.name {
            "podrank_select" => {
                let victims = &order[..order.len().min(self.lens[1])];
                vec![("victims", bytes(victims)), ("selected", victims.len().to_ne_bytes().to_vec())]
            }
            "podrank_sort" => vec![("order", bytes(&order))],
            "podrank_upstream_sort" => {
                let list = (self.content)("list").unwrap_or_default().chunks_exact(4).map(array);
                let list: Vec<u32> = list.map(u32::from_ne_bytes).collect();
                // As the core sorts it: `odds` looks at that.
                vec![("list", bytes(&Core.upstream_sort(&self.policy, pods, &list)))]
            }
            name => {
                // As C does, it takes a negative number for a very large one.
                let k = usize::try_from(self.number("k")).unwrap_or(usize::MAX);
                let settled = relation::settled(&self.policy, pods, k);
                let mut outputs = vec![
                    ("order", bytes(&settled.order)),
                    ("certain_len", settled.certain.to_ne_bytes().to_vec()),
                    ("contested_len", settled.contested.to_ne_bytes().to_vec()),
                ];
                if name == "podrank_odds" {
                    // As the core has them: `odds` looks at that.
                    let odds = Core.odds(&self.policy, pods, k).1;
                    let bytes = |odds: &Odds| [odds.goes, odds.of, odds.error].map(u32::to_ne_bytes).concat();
                    outputs.push(("odds", odds.iter().flat_map(bytes).collect()));
                }
                outputs
            }
        }
    }

    fn ranks(&self, own: Vec<Pod>, others: &[Pod], wrong: &mut BTreeSet<i32>) -> Outputs {
        let place = |pod: &Pod| pod.flags.contains(Flags::ASSIGNED).then_some(pod.node);
        let all: Vec<Pod> = own.iter().chain(others).copied().collect();
        let is_unknown = |pod: &Pod| place(pod).is_some_and(|node| node as usize >= self.lens[2]);
        if all.iter().any(is_unknown) {
            wrong.insert(PODRANK_ERR_NODE);
        }
        let mut bytes = Vec::new();
        let spread = spread::ranks(&self.policy, &own, others);
        for (pod, spread) in own.into_iter().zip(spread) {
            let count = all.iter().filter(|other| place(other) == place(&pod)).count();
            let count = u32::try_from(count).expect("few");
            let rank = if self.function.name == "podrank_spread" { spread } else { count };
            bytes.extend(functions::bytes(&[record(&Pod { rank, ..pod })]));
        }
        vec![("pods", bytes)]
    }

    fn node_weights(&self, wrong: &mut BTreeSet<i32>) -> Outputs {
        // Without one of the buffers, another status says so.
        let Some((others, given)) = (self.content)("neighbours").zip((self.content)("weights")) else {
            return Vec::new();
        };
        let mut others: Vec<_> = others.chunks_exact(8).map(|bytes| words(bytes, [0, 4])).collect();
        let nodes = given.len() / 8;
        if others.iter().any(|[_, node]| *node as usize >= nodes) {
            wrong.insert(PODRANK_ERR_NODE);
            return Vec::new();
        }
        others.sort_unstable();
        let neighbours: Vec<_> = others.iter().map(|&[set, node]| Neighbour { set, node }).collect();
        let given = given.chunks_exact(8).map(|bytes| longs(bytes, [0])[0].cast_unsigned());
        let weights = empty::weights(&neighbours, nodes).into_iter().zip(given);
        let bytes = others.iter().flatten().flat_map(|number| number.to_ne_bytes());
        vec![
            ("neighbours", bytes.collect()),
            ("weights", weights.flat_map(|(more, given)| given.saturating_add(more).to_ne_bytes()).collect()),
        ]
    }

    /// As the core does it: `steer` looks at that.
    fn empty_nodes(&self, mut pods: Vec<Pod>, wrong: &mut BTreeSet<i32>) -> Outputs {
        let weights = (self.content)("weights").unwrap_or_default().chunks_exact(8);
        let weights: Vec<_> = weights.map(|bytes| longs(bytes, [0])[0].cast_unsigned()).collect();
        let domains = (self.content)("domains").unwrap_or_default().chunks_exact(4);
        let domains: Vec<_> = domains.map(|bytes| words(bytes, [0])[0]).collect();
        let Some(room) = (self.content)("counts").map(|counts| counts.len() / 4) else { return Vec::new() };
        let counts = room.saturating_sub(weights.len());
        for node in pods.iter().filter(|pod| pod.flags.contains(Flags::ASSIGNED)).map(|pod| pod.node as usize)
        {
            let mut levels = domains.chunks(weights.len().max(1)).map(|level| level.get(node));
            refuse(
                wrong,
                [
                    (node >= weights.len(), PODRANK_ERR_NODE),
                    (
                        levels.any(|domain| domain.is_none_or(|domain| *domain as usize >= counts)),
                        PODRANK_ERR_DOMAIN,
                    ),
                ],
            );
        }
        if !wrong.is_empty() {
            return Vec::new();
        }
        let mut scratch = vec![EmptyNodesScratch::default(); pods.len()];
        let mut counts = vec![0; room];
        self.policy.empty_nodes(&mut pods, &weights, &domains, &mut counts, &mut scratch).expect("checked");
        vec![("pods", pods.iter().flat_map(|pod| functions::bytes(&[record(pod)])).collect())]
    }

    /// As the core does it: `steer` looks at that.
    fn steer(&self, pods: &[Pod], wrong: &mut BTreeSet<i32>) -> Outputs {
        let prices = (self.content)("prices").unwrap_or_default();
        let price =
            |i| Some(prices.get(i).copied().unwrap_or(1)).filter(|byte| *byte != PODRANK_STEER_PRICE_FIXED);
        let prices: Vec<_> = (0..pods.len()).map(price).collect();
        let number = |number: usize| u32::try_from(number).expect("few").to_ne_bytes();
        match Core.steer(&self.policy, pods, &prices) {
            Ok(steering) => {
                let counts = [number(steering.changed), number(steering.blocked.len()), [0; 4], [0; 4]];
                let blocked = steering.blocked.iter().take(self.lens[4]).flat_map(|pair| {
                    let rule = [pair.rule.number(), 0, 0, 0];
                    [pair.pod.to_ne_bytes(), pair.before.to_ne_bytes(), rule].concat()
                });
                vec![
                    ("costs", steering.costs.iter().flat_map(|cost| cost.to_ne_bytes()).collect()),
                    ("blocked", blocked.collect()),
                    ("steered", counts.concat()),
                ]
            }
            Err(error) => {
                let is_gate = error == SteerError::GateOff;
                wrong.insert(if is_gate { PODRANK_ERR_GATE } else { PODRANK_ERR_NO_ROOM });
                Vec::new()
            }
        }
    }

    fn text(&self, wrong: &mut BTreeSet<i32>) -> Outputs {
        let text = (self.content)("text");
        match (self.function.name, text.unwrap_or_default()) {
            ("podrank_uid_parse", text) => {
                let uid = uid::grammar(text);
                if uid.is_none() && text.len() == 36 {
                    wrong.extend([PODRANK_ERR_UID_HYPHEN, PODRANK_ERR_UID_DIGIT]);
                } else if uid.is_none() {
                    wrong.insert(PODRANK_ERR_UID_LENGTH);
                }
                uid.map(|uid| ("uid", uid.to_vec())).into_iter().collect()
            }
            ("podrank_deletion_cost_parse", text) => {
                let cost = cost::grammar(text);
                if cost.is_none() {
                    wrong.extend(PODRANK_ERR_COST_EMPTY..=PODRANK_ERR_COST_RANGE);
                }
                cost.map(|cost| ("cost", cost.to_ne_bytes().to_vec())).into_iter().collect()
            }
            ("podrank_phase_parse", b"Succeeded" | b"Failed") => {
                wrong.insert(PODRANK_ERR_INACTIVE);
                Vec::new()
            }
            ("podrank_phase_parse", text) => {
                vec![(
                    "phase",
                    vec![match text {
                        b"Running" => 2,
                        b"Unknown" => 1,
                        _ => 0,
                    }],
                )]
            }
            ("podrank_uid_format", _) => match (self.content)("uid") {
                Some(uid) => vec![("text", (uid::written(array(uid)) + "\0").into_bytes())],
                None => Vec::new(),
            },
            ("podrank_time_from_unix", _) => {
                // Seconds and nanoseconds as one number, or the nearest in the range.
                let [seconds, nanoseconds] =
                    ["seconds", "nanoseconds"].map(|name| i128::from(self.number(name)));
                let exact = seconds * 1_000_000_000 + nanoseconds;
                let nearest = exact.clamp(i128::from(i64::MIN) + 1, i64::MAX.into());
                vec![("time", i64::try_from(nearest).expect("clamped").to_ne_bytes().to_vec())]
            }
            // One of its buffers is not inside the block.
            _ => Vec::new(),
        }
    }
}

fn meaning(status: i32) -> &'static str {
    // SAFETY: a static text.
    let meaning = unsafe { CStr::from_ptr(podrank_status_str(status)) }.to_str().expect("ASCII");
    assert_ne!(meaning, "unknown status", "{status}");
    meaning
}
