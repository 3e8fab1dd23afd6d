//! `ffi`: the C functions with raw bytes as records and options, any other arguments, and null, misaligned, overlapping,
//! short and endless buffers.
//!
//! The target works out from the arguments alone what is wrong with a call. If something is wrong, the status must say
//! so. If nothing is wrong, the outputs must be right, and no byte may change that is not an output. Lists are compared
//! with naive implementations. Most other outputs are compared with core: there, this checks the C layer alone, and
//! the laws and the other targets check core.
//!
//! All buffers are in one block, with canaries between them, so that they can overlap. Each buffer is sometimes the last
//! in the block, so that `AddressSanitizer` finds an access beyond it.

mod controller;

use crate::case::{self, Case, valid};
use arbitrary::{Result, Unstructured};
use podrank::{
    EmptyNodesScratch, Error, Neighbour, Phase, Pod, Policy, Time, Uid, count_ranks, deletion_cost,
    empty_nodes, node_weights,
};
#[allow(clippy::wildcard_imports)] // the header's names
use podrank_ffi::*;
use podrank_laws::generate::NOW;
use podrank_laws::{Core, Implementation, go_sort::go_sort, laws, oracle, relation, sampled};
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
    run_with(&mut Unstructured::new(data)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    // The laws are as likely as four functions.
    let Some(function) = FUNCTIONS.get(u.choose_index(FUNCTIONS.len() + 4)?) else { return obeys_laws(u) };
    // Chosen first, because the contents take the remaining bytes.
    let spoilt: Option<[u8; 12]> = u.arbitrary()?;
    let mut call = Call::new(function, u)?;
    if let Some(choices) = spoilt {
        call.spoil(&mut Unstructured::new(&choices))?;
    }
    call.check();
    Ok(())
}

/// The laws through C, against the naive implementations.
fn obeys_laws(u: &mut Unstructured<'_>) -> Result<()> {
    let Case { policy, pods, k, .. } = Case::read(u, 1..=40)?;
    let pods: Vec<Pod> = pods.iter().map(|pod| valid(*pod)).collect();
    let (first, last) = (&pods[0], &pods[pods.len() - 1]);
    laws::one_answer(&C, &policy, first, last);
    laws::relation_is_upstreams(&C, &policy, first, last);
    laws::total_order(&C, &policy, &pods);
    laws::selects_a_prefix(&C, &policy, &pods, k);
    laws::settles_as_all_pairs_say(&C, &policy, &pods, k);
    Ok(())
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
        // The order of the buffers, and the gaps between them.
        let turn = u.choose_index(function.buffers.len())?;
        let gaps: u32 = u.arbitrary()?;
        let mut contents = Vec::new();
        for buffer in &function.buffers {
            let count = buffer.len.map_or(1, |len| lens[len]);
            contents.push(content(function, buffer, count * element(function, buffer), &numbers, u)?);
        }
        let mut end = 0_usize;
        let mut offsets = vec![0; contents.len()];
        for i in (0..contents.len()).map(|i| (i + turn) % contents.len()) {
            let gap = if end == 0 { 0 } else { (gaps >> (2 * i) & 3) as usize };
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

    /// The bytes of a buffer, by its name: none if there is no such buffer in the block.
    fn bytes(&self, name: &str) -> &[u8] {
        let i = self.function.buffers.iter().position(|buffer| buffer.name == name);
        // An empty buffer may be NULL, or anywhere.
        let place = i.filter(|&i| self.sizes[i] > 0).and_then(|i| self.place(i));
        place.map_or(&[], |place| &self.block.bytes()[place])
    }

    /// The elements of a buffer, by its name.
    fn read<T: Copy>(&self, name: &str) -> Vec<T> {
        let elements = self.bytes(name).chunks_exact(size_of::<T>());
        // SAFETY: it is used for records of plain integers, which any bytes are.
        elements.map(|bytes| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }).collect()
    }

    /// The value of an argument that is not a buffer, by its name.
    fn number(&self, name: &str) -> i64 {
        let numbers = self.function.numbers.iter().zip(&self.numbers);
        let mut named = numbers.filter(|((other, _), _)| *other == name);
        *named.next().expect("an argument of this name").1
    }

    /// Makes the call. Checks its status, its outputs and which bytes it changed.
    fn check(&self) {
        let name = self.function.name;
        let mut wrong = self.wrong_buffers();
        let spoilt = !wrong.is_empty();
        let policy = policy(self.bytes("options"), &mut wrong);
        for buffer in
            self.function.buffers.iter().filter(|buffer| buffer.records && name != "podrank_validate")
        {
            wrong.extend(self.bytes(buffer.name).chunks_exact(64).filter_map(invalid));
        }
        let expected = if wrong.is_empty() { self.expected(&policy) } else { Ok(vec![]) };
        let expected = expected.unwrap_or_else(|statuses| {
            wrong.extend(statuses);
            vec![]
        });

        let before = self.block.bytes().to_vec();
        // SAFETY: the buffers are as long as the lengths say, or the call is to be refused before it looks.
        let status = unsafe { (self.function.call)(&self.pointers, &self.lens, &self.numbers) };
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
        for (output, expected) in expected {
            let written = self.bytes(output);
            assert_eq!(written.get(..expected.len()), Some(&expected[..]), "{name}: {output}");
        }
        if status == PODRANK_OK && name == "podrank_node_number" {
            self.check_node_number();
        }
    }

    /// The slot with this number has the name, and the name gets the same number again.
    fn check_node_number(&self) {
        let number = || self.read::<u32>("node")[0];
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
        // 0 is many. A larger number is cut.
        "samples" => *u.choose(&[1, 2, 3, 16, 64, 64, 0, 65_600])?,
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
        let count = size / size_of::<podrank_pod>();
        let pods = case::pods(u, now, count..=count)?;
        for (chunk, pod) in bytes.chunks_exact_mut(size_of::<podrank_pod>()).zip(pods) {
            let mut pod = valid(pod);
            if let Some((_, seconds)) = number("min_ready_seconds") {
                pod = controller::ready_time(&pod, *seconds, now, u)?;
            }
            chunk.copy_from_slice(&functions::bytes(&[record(&Pod { node: pod.node % 4, ..pod })]));
            match u.arbitrary::<u8>()? {
                1..=4 => chunk[52] = u.arbitrary()?,
                5..=8 => chunk[53] = u.arbitrary()?,
                9..=12 => chunk[56 + usize::from(u.int_in_range(0..=7_u8)?)] = u.arbitrary()?,
                13 => u.fill_buffer(chunk)?,
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
    let valid = options(&policy);
    let size = match u.int_in_range(0..=9_u8)? {
        0 => u.arbitrary()?,
        1 => u.int_in_range(0..=1100_u32)?,
        2 => *u.choose(&[15, 17, 24, 1024, 1025])?,
        _ => 16,
    };
    let flags = if u.ratio(1, 10)? { u.arbitrary()? } else { valid.flags };
    let there = if size <= PODRANK_OPTIONS_SIZE_MAX { size.max(16) } else { 16 };
    let mut bytes = functions::bytes(&[podrank_options { size, flags, ..valid }]);
    bytes.resize(there as usize, 0);
    if let (true, Some(last)) = (u.ratio(1, 4)?, bytes[16..].last_mut()) {
        *last = u.arbitrary()?;
    }
    Ok(bytes)
}

/// Returns the policy that options stand for, read as the header documents them. Adds what is wrong with them to `wrong`.
fn policy(options: &[u8], wrong: &mut BTreeSet<i32>) -> Policy {
    let mut policy = Policy::without_now();
    if options.is_empty() {
        return policy;
    }
    let [size, flags] = [0, 4].map(|at| u32::from_ne_bytes(array(&options[at..])));
    let now = i64::from_ne_bytes(array(&options[8..]));
    let beyond = options.get(16..size as usize);
    let is_odd = beyond.is_none_or(|beyond| beyond.iter().any(|&byte| byte != 0));
    let has_now = flags & PODRANK_OPTIONS_NOW != 0;
    let reasons = [
        (size > PODRANK_OPTIONS_SIZE_MAX || is_odd, PODRANK_ERR_OPTIONS_SIZE),
        (flags >= 16, PODRANK_ERR_OPTIONS_FLAGS),
        (if has_now { now == PODRANK_TIME_UNSET } else { now != 0 }, PODRANK_ERR_OPTIONS_NOW),
    ];
    wrong.extend(reasons.into_iter().filter(|(is_there, _)| *is_there).map(|(_, status)| status));
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

fn invalid(bytes: &[u8]) -> Option<i32> {
    match (bytes[52], bytes[53], &bytes[56..]) {
        (3.., ..) => Some(PODRANK_ERR_PHASE),
        (_, 8.., _) => Some(PODRANK_ERR_FLAGS),
        (.., reserved) if reserved != [0; 8] => Some(PODRANK_ERR_RESERVED),
        _ => None,
    }
}

/// What a call must write: at the start of each of these buffers, these bytes.
type Outputs = Vec<(&'static str, Vec<u8>)>;

/// The right outputs of a call with which nothing else is wrong, or the statuses that say what is.
type Answer = Result<Outputs, Vec<i32>>;

fn output<T>(name: &'static str, values: &[T]) -> (&'static str, Vec<u8>) {
    (name, functions::bytes(values))
}

impl Call<'_> {
    fn expected(&self, policy: &Policy) -> Answer {
        match self.function.name {
            "podrank_node_number" if self.lens[1] == 0 => Err(vec![PODRANK_ERR_NODE_NAME]),
            "podrank_node_number" if self.lens[0] == 0 => Err(vec![PODRANK_ERR_NODES_FULL]),
            // The laws look at what these write.
            "podrank_compare"
            | "podrank_decide"
            | "podrank_explain"
            | "podrank_kubernetes_compare"
            | "podrank_key"
            | "podrank_node_number" => Ok(vec![]),
            "podrank_select"
            | "podrank_sort"
            | "podrank_predict"
            | "podrank_probabilities"
            | "podrank_kubernetes_sort" => Ok(self.list(policy)),
            "podrank_validate" => {
                let mut records = self.bytes("pods").chunks_exact(64).map(invalid).enumerate();
                let (index, why) = records.find(|(_, why)| why.is_some()).unwrap_or((self.lens[0], None));
                Ok(vec![output("first_invalid", &[index]), output("why", &[why.unwrap_or(PODRANK_OK)])])
            }
            "podrank_count_ranks" | "podrank_spread" | "podrank_node_weights" | "podrank_empty_nodes" => {
                self.on_nodes(policy)
            }
            "podrank_steer" => self.steer(policy),
            _ => self.text(),
        }
    }

    fn list(&self, policy: &Policy) -> Outputs {
        let pods = self.read("pods");
        let order = oracle::sort(policy, &pods);
        match self.function.name {
            "podrank_select" => {
                let victims = &order[..order.len().min(self.lens[1])];
                vec![output("victims", victims), output("selected", &[victims.len()])]
            }
            "podrank_sort" => vec![output("order", &order)],
            "podrank_kubernetes_sort" => {
                let mut list: Vec<u32> = self.read("list");
                if list.iter().all(|index| (*index as usize) < pods.len()) {
                    go_sort(&mut list, &|a, b| {
                        relation::less(policy, &pods[*a as usize], &pods[*b as usize])
                    });
                } else {
                    // No rule says where an index without a pod is.
                    list = Core.kubernetes_sort(policy, &pods, &list);
                }
                vec![output("list", &list)]
            }
            name => {
                // As C does, it takes a negative number for a very large one.
                let k = usize::try_from(self.number("k")).unwrap_or(usize::MAX);
                let settled = relation::settled(policy, &pods, k);
                let mut outputs = vec![
                    output("order", &settled.order),
                    output("deleted_len", &[settled.certain]),
                    output("possible_len", &[settled.possible]),
                ];
                if name == "podrank_probabilities" {
                    let samples = u16::try_from(self.number("samples") & 0xFFFF).unwrap_or(0);
                    let (_, odds) = sampled(policy, &pods, k, samples);
                    outputs.push(output("probabilities", &odds));
                }
                outputs
            }
        }
    }

    fn on_nodes(&self, policy: &Policy) -> Answer {
        let (mut pods, others) = (self.read::<Pod>("pods"), self.read::<Pod>("others"));
        let mut weights = self.read::<u64>("weights");
        let mut counts = vec![0; self.bytes("counts").len() / size_of::<u32>()];
        match self.function.name {
            "podrank_count_ranks" => {
                count_ranks(&mut pods, &others, &mut counts).map_err(|_| vec![PODRANK_ERR_NODE])?;
            }
            "podrank_spread" => {
                let mut scratch = vec![0; pods.len()];
                let spread = policy.spread(&mut pods, &others, &mut counts, &mut scratch);
                spread.map_err(|_| vec![PODRANK_ERR_NODE])?;
            }
            "podrank_empty_nodes" => {
                let (domains, mut scratch) =
                    (self.read("domains"), vec![EmptyNodesScratch::default(); pods.len()]);
                let emptied = empty_nodes(&mut pods, &weights, &domains, &mut counts, &mut scratch);
                emptied.map_err(|error| match error {
                    Error::UnknownDomain { .. } => vec![PODRANK_ERR_DOMAIN],
                    _ => vec![PODRANK_ERR_NODE],
                })?;
            }
            _ => {
                let mut neighbours = self.read::<Neighbour>("neighbours");
                node_weights(&mut neighbours, &mut weights).map_err(|_| vec![PODRANK_ERR_NODE])?;
                return Ok(vec![output("neighbours", &neighbours), output("weights", &weights)]);
            }
        }
        Ok(vec![output("pods", &pods)])
    }

    fn steer(&self, policy: &Policy) -> Answer {
        let pods = self.read::<Pod>("pods");
        let prices = self.bytes("prices").iter().copied().chain(std::iter::repeat(1));
        let prices = prices.map(|byte| Some(byte).filter(|byte| *byte != PODRANK_STEER_PRICE_FIXED));
        let prices: Vec<_> = prices.take(pods.len()).collect();
        let steering = Core.steer(policy, &pods, &prices).map_err(|error| match error {
            Error::GateOff => vec![PODRANK_ERR_GATE],
            _ => vec![PODRANK_ERR_NO_ROOM],
        })?;
        let count = |number: usize| u32::try_from(number).expect("few");
        let (changed, unsteerable) = (count(steering.changed), count(steering.unsteerable.len()));
        let pairs = steering.unsteerable.iter().take(self.lens[4]).map(|pair| podrank_unsteerable {
            pod: pair.pod,
            before: pair.before,
            rule: pair.rule.number(),
            reserved: [0; 3],
        });
        Ok(vec![
            output("costs", &steering.costs),
            output("unsteerable", &pairs.collect::<Vec<_>>()),
            output("steered", &[podrank_steered { changed, unsteerable, lower: 0, higher: 0 }]),
        ])
    }

    fn text(&self) -> Answer {
        let text = self.bytes("text");
        Ok(vec![match self.function.name {
            "podrank_uid_parse" => {
                let of_a_uid = |_| (PODRANK_ERR_UID_LENGTH..=PODRANK_ERR_UID_DIGIT).collect::<Vec<_>>();
                let uid = Uid::parse(text).map_err(of_a_uid)?;
                output("uid", &uid.to_bytes())
            }
            "podrank_uid_format" => {
                let uid = Uid::from_bytes(array(self.bytes("uid")));
                output("text", format!("{uid}\0").as_bytes())
            }
            "podrank_deletion_cost_parse" => {
                let of_a_cost = |_| (PODRANK_ERR_COST_EMPTY..=PODRANK_ERR_COST_RANGE).collect::<Vec<_>>();
                output("cost", &[deletion_cost(text).map_err(of_a_cost)?])
            }
            "podrank_phase_parse" => {
                output("phase", &[Phase::parse(text).ok_or(vec![PODRANK_ERR_INACTIVE])?.ordinal()])
            }
            "podrank_time_from_unix" => {
                let nanoseconds = u32::try_from(self.number("nanoseconds")).expect("32 bits");
                let time = Time::from_unix(self.number("seconds"), nanoseconds);
                output("time", &[time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET)])
            }
            _ => return self.controller(),
        }])
    }
}

fn meaning(status: i32) -> &'static str {
    // SAFETY: a static text.
    let meaning = unsafe { CStr::from_ptr(podrank_status_str(status)) }.to_str().expect("ASCII");
    assert_ne!(meaning, "unknown status", "{status}");
    meaning
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call that is valid.
    fn call(name: &str) -> Call<'static> {
        let function = FUNCTIONS.iter().find(|function| function.name == name).expect("a function");
        Call::new(function, &mut Unstructured::new(&[])).expect("zeros where bytes end")
    }

    /// They once gave a time up to 3.3 s later than the earliest one.
    #[test]
    fn seconds_below_the_range_are_the_earliest_time() {
        for (seconds, nanoseconds) in [(-9_223_372_038, 1_000_000_000), (i64::MIN, u32::MAX.into())] {
            let mut call = call("podrank_time_from_unix");
            call.numbers = vec![seconds, nanoseconds];
            call.check();
            assert_eq!(call.read::<i64>("time"), [i64::MIN + 1]);
        }
    }

    /// The target once took the missing array for an error, and did not expect that a pod's node is rejected.
    #[test]
    fn no_weights_at_null_reject_every_node() {
        let mut call = call("podrank_node_weights");
        (call.lens[1], call.sizes[1], call.pointers[1]) = (0, 0, null_mut());
        call.check();
        assert!(call.lens[0] > 0);
    }

    /// The target once moved them onto another buffer, whose bytes gave them another length.
    #[test]
    fn options_are_not_moved() {
        for choices in 0..=u16::MAX {
            let mut call = call("podrank_key");
            let options = call.function.buffers.iter().position(|buffer| buffer.usage == Use::Options);
            let options = options.expect("a buffer of options");
            let offset = |call: &Call<'_>| call.pointers[options].addr() - call.block.start.addr();
            let before = offset(&call);
            call.spoil(&mut Unstructured::new(&choices.to_le_bytes())).expect("zeros where bytes end");
            assert!(call.pointers[options].is_null() || offset(&call) - before < 8, "{choices}");
        }
    }
}
