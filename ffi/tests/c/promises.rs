//! The promises at the start of the header, by their numbers, each for every function.

use podrank_ffi::*;
use podrank_laws::Implementation;
use podrank_laws::generate::{cases, cases_with_invalid_records, config};
use podrank_through_c::functions::{Buffer, Declared, Function, Use, all, declared, plain};
use podrank_through_c::implementation::{C, record};
use proptest::prelude::*;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeSet, HashSet};
use std::ffi::CStr;
use std::ptr::{null, null_mut};

/// The buffers of a call, each in its own block, which is freed after the call.
struct Call {
    blocks: Vec<(*mut u8, Layout)>,
    pointers: Vec<*mut u8>,
    lens: Vec<usize>,
}

impl Call {
    fn new(function: &Function) -> Self {
        let blocks: Vec<_> = function
            .buffers
            .iter()
            .map(|buffer| {
                // With space to misalign it.
                let layout = Layout::from_size_align(buffer.bytes.len() + 64, 64).unwrap();
                // SAFETY: the size is not 0, and the contents fit.
                unsafe {
                    let block = alloc(layout);
                    block.copy_from(buffer.bytes.as_ptr(), buffer.bytes.len());
                    (block, layout)
                }
            })
            .collect();
        let pointers = blocks.iter().map(|block| block.0).collect();
        Self { blocks, pointers, lens: function.lens.clone() }
    }

    fn run(&self, function: &Function) -> i32 {
        // SAFETY: the buffers are as long as the lengths say, or the call is rejected before it reads them.
        unsafe { (function.call)(&self.pointers, &self.lens, &numbers(function)) }
    }

    fn contents(&self, i: usize, buffer: &Buffer) -> &[u8] {
        // SAFETY: allocated with this length.
        unsafe { std::slice::from_raw_parts(self.blocks[i].0, buffer.bytes.len()) }
    }

    /// Runs a call that must be rejected and must leave every buffer unchanged.
    fn rejected(&self, function: &Function, status: i32, why: &str) {
        assert_eq!(self.run(function), status, "{}: {why}", function.name);
        for (i, buffer) in function.buffers.iter().enumerate() {
            assert_eq!(
                self.contents(i, buffer),
                buffer.bytes,
                "{}: {} changed: {why}",
                function.name,
                buffer.name
            );
        }
    }
}

/// The values of a function's other arguments.
fn numbers(function: &Function) -> Vec<i64> {
    function.numbers.iter().map(|(_, number)| *number).collect()
}

impl Drop for Call {
    fn drop(&mut self) {
        for (block, layout) in &self.blocks {
            // SAFETY: allocated so.
            unsafe { dealloc(*block, *layout) };
        }
    }
}

/// The tests below run on every function of the header, with every parameter, and on no other function.
#[test]
fn the_tables_are_the_headers_functions() {
    let listed = |function: Function| Declared {
        name: function.name.to_owned(),
        buffers: function.buffers.iter().map(|buffer| (buffer.name.to_owned(), buffer.written())).collect(),
        lens: function.lens.len(),
        numbers: function.numbers.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    let plain = plain().map(|function| Declared {
        name: function.name.to_owned(),
        numbers: function.numbers.iter().copied().map(str::to_owned).collect(),
        ..Declared::default()
    });
    let mut listed: Vec<Declared> = all().into_iter().map(listed).chain(plain).collect();
    let mut header = declared(concat!(
        include_str!("../../../include/podrank.h"),
        include_str!("../../../include/podrank/controller.h"),
        include_str!("../../../include/podrank/probabilities.h"),
        include_str!("../../../include/podrank/steer.h"),
    ));
    for functions in [&mut listed, &mut header] {
        functions.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let names = |functions: &[Declared]| -> Vec<String> {
        functions.iter().map(|function| function.name.clone()).collect()
    };
    assert_eq!(names(&listed), names(&header), "tests/through-c/src/functions.rs and include/");
    for (listed, header) in listed.iter().zip(&header) {
        assert_eq!(listed, header, "tests/through-c/src/functions.rs and include/");
    }
}

#[test]
fn promise_1_statuses_are_numbered_once_and_have_words() {
    // ffi/abi.txt has their numbers. They never change, because the list may only grow.
    let statuses = crate::names::all("constant");
    let statuses =
        statuses.iter().filter(|(name, _)| **name == "PODRANK_OK" || name.starts_with("PODRANK_ERR_"));
    let statuses: BTreeSet<i32> = statuses.map(|(_, number)| number.parse().unwrap()).collect();
    assert!(statuses.iter().copied().eq(0..30), "{statuses:?}");
    let words = |status| unsafe { CStr::from_ptr(podrank_status_str(status)) }.to_str().unwrap();
    let mut texts = HashSet::new();
    for status in statuses {
        assert!(texts.insert(words(status)), "{} twice", words(status));
        assert_ne!(words(status), "unknown status");
    }
    for unknown in [30, -1, i32::MIN, i32::MAX] {
        assert_eq!(words(unknown), "unknown status");
    }
}

#[test]
fn promise_2_outputs_are_written_only_on_success() {
    // `rejected` asserts in every test below that an error leaves them. This asserts that success writes all of them.
    for function in all() {
        let call = Call::new(&function);
        assert_eq!(call.run(&function), PODRANK_OK, "{}", function.name);
        for (i, buffer) in function.buffers.iter().enumerate() {
            let changed = call.contents(i, buffer) != buffer.bytes;
            assert_eq!(changed, buffer.written(), "{}: {}", function.name, buffer.name);
        }
    }
}

#[test]
fn promise_3_null_only_with_length_0_or_for_options() {
    for function in all() {
        for (i, buffer) in function.buffers.iter().enumerate() {
            let mut call = Call::new(&function);
            call.pointers[i] = null_mut();
            if buffer.usage == Use::Options {
                assert_eq!(call.run(&function), PODRANK_OK, "{}", function.name);
                continue;
            }
            call.rejected(&function, PODRANK_ERR_NULL, buffer.name);
            // With length 0 it is allowed, if the other buffers of that length are empty, too.
            if let Some(len) = buffer.len {
                call.lens[len] = 0;
                assert_ne!(call.run(&function), PODRANK_ERR_NULL, "{}: {}", function.name, buffer.name);
            }
        }
    }
}

#[test]
fn promise_4_misaligned_pointers_are_rejected() {
    for function in all() {
        for (i, buffer) in function.buffers.iter().enumerate().filter(|(_, buffer)| buffer.align > 1) {
            for off in 1..buffer.align {
                let mut call = Call::new(&function);
                call.pointers[i] = call.pointers[i].wrapping_add(off);
                call.rejected(&function, PODRANK_ERR_MISALIGNED, &format!("{} off by {off}", buffer.name));
            }
        }
    }
}

#[test]
fn promise_5_overlapping_buffers_are_rejected_and_touching_ones_are_not() {
    for function in all() {
        for (i, written) in function.buffers.iter().enumerate().filter(|(_, buffer)| buffer.written()) {
            for (j, other) in function.buffers.iter().enumerate().filter(|(j, _)| *j != i) {
                let mut call = Call::new(&function);
                call.pointers[i] = call.pointers[j];
                call.rejected(&function, PODRANK_ERR_OVERLAP, &format!("{} on {}", written.name, other.name));

                // The last byte of one under the first of the other.
                let mut call = Call::new(&function);
                let last = other.bytes.len().next_multiple_of(written.align) - written.align;
                call.pointers[i] = call.pointers[j].wrapping_add(last);
                call.rejected(
                    &function,
                    PODRANK_ERR_OVERLAP,
                    &format!("{} at the end of {}", written.name, other.name),
                );
            }
        }

        // All of them end to end, the most aligned first, so that no room is left between.
        let mut order: Vec<usize> = (0..function.buffers.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(function.buffers[i].align));
        let mut memory = vec![0_u64; 1024];
        let mut call = Call::new(&function);
        let mut end = memory.as_mut_ptr().cast::<u8>();
        for i in order {
            let bytes = &function.buffers[i].bytes;
            call.pointers[i] = end;
            unsafe { end.copy_from(bytes.as_ptr(), bytes.len()) };
            end = end.wrapping_add(bytes.len());
        }
        assert_eq!(call.run(&function), PODRANK_OK, "{}", function.name);
    }
}

#[test]
fn promise_6_lengths_are_counts_up_to_32_bits() {
    for function in all() {
        for (which, _) in function.lens.iter().enumerate() {
            // Where a length has 32 bits, the largest ones do not fit the address space.
            let beyond = (u32::MAX as usize).saturating_add(1);
            for len in [beyond, isize::MAX as usize, usize::MAX] {
                let mut call = Call::new(&function);
                call.lens[which] = len;
                call.rejected(&function, PODRANK_ERR_TOO_LONG, &format!("length {which} is {len}"));
            }
        }
        // A buffer that is too short for what the function writes there.
        for (buffer, len) in function.buffers.iter().filter_map(|buffer| Some((buffer, buffer.len?))) {
            let least = buffer.least(&function.lens);
            for shorter in 0..least {
                let mut call = Call::new(&function);
                call.lens[len] = shorter;
                call.rejected(&function, PODRANK_ERR_SHORT_BUFFER, &format!("{} {shorter}", buffer.name));
            }
        }
        // A buffer that would go on beyond the end of the address space.
        for (i, buffer) in function.buffers.iter().enumerate().filter(|(_, buffer)| buffer.bytes.len() > 64) {
            let mut call = Call::new(&function);
            call.pointers[i] = (usize::MAX - 63) as *mut u8;
            call.rejected(&function, PODRANK_ERR_TOO_LONG, buffer.name);
        }
    }
}

#[test]
fn promise_7_unsound_records_are_rejected_and_validate_says_which() {
    type Spoil = fn(&mut podrank_pod);
    let spoilers: [(Spoil, i32); 4] = [
        (|pod| pod.phase = 3, PODRANK_ERR_PHASE),
        (|pod| pod.flags |= 8, PODRANK_ERR_FLAGS),
        (|pod| pod.reserved[0] = 1, PODRANK_ERR_RESERVED),
        (|pod| pod.reserved[7] = 0x80, PODRANK_ERR_RESERVED),
    ];
    for mut function in all() {
        for i in 0..function.buffers.len() {
            if !function.buffers[i].records {
                continue;
            }
            let good = function.buffers[i].bytes.clone();
            for at in 0..good.len() / size_of::<podrank_pod>() {
                for (spoil, status) in spoilers {
                    let mut bad = good.clone();
                    // SAFETY: the bytes of records, read and written unaligned.
                    unsafe {
                        let record = bad.as_mut_ptr().cast::<podrank_pod>().wrapping_add(at);
                        let mut pod = record.read_unaligned();
                        spoil(&mut pod);
                        record.write_unaligned(pod);
                    }
                    function.buffers[i].bytes = bad;
                    let call = Call::new(&function);
                    if function.name == "podrank_validate" {
                        assert_eq!(call.run(&function), PODRANK_OK);
                        // SAFETY: outputs of these types.
                        let (first, why) = unsafe {
                            (call.pointers[1].cast::<usize>().read(), call.pointers[2].cast::<i32>().read())
                        };
                        assert_eq!((first, why), (at, status));
                    } else {
                        call.rejected(&function, status, &format!("{} {at}", function.buffers[i].name));
                    }
                }
            }
            function.buffers[i].bytes = good;
        }
    }
    let sound = [record(&podrank::Pod::new()); 3];
    let (mut first, mut why) = (77, 77);
    assert_eq!(unsafe { podrank_validate(sound.as_ptr(), 3, &raw mut first, &raw mut why) }, PODRANK_OK);
    assert_eq!((first, why), (3, PODRANK_OK));
}

proptest! {
    #![proptest_config(config(256))]

    /// Of several records with several things wrong, the first record and the first thing in it, by offset, are blamed.
    #[test]
    fn promise_7_the_first_invalid_record_is_blamed((_, list) in cases_with_invalid_records(7)) {
        let wrong = |pod: &podrank::Pod| match (pod.phase.ordinal(), pod.flags.bits(), pod.reserved.as_ref()) {
            (3.., ..) => Some(PODRANK_ERR_PHASE),
            (_, 8.., _) => Some(PODRANK_ERR_FLAGS),
            (_, _, reserved) if reserved != [0; 8] => Some(PODRANK_ERR_RESERVED),
            _ => None,
        };
        for mut function in all() {
            // In the order of the parameters: which record is wrong, and how.
            let mut first = None;
            for buffer in function.buffers.iter_mut().filter(|buffer| buffer.records) {
                let count = buffer.bytes.len() / size_of::<podrank_pod>();
                for (at, pod) in list.iter().enumerate().take(count) {
                    first = first.or(wrong(pod).map(|status| (at, status)));
                    // On a node that is counted, and in one tier, so that fixed costs leave room.
                    let record = podrank_pod { node: pod.node % 3, tier: 0, ..record(pod) };
                    // SAFETY: the bytes of records, written unaligned.
                    unsafe { buffer.bytes.as_mut_ptr().cast::<podrank_pod>().wrapping_add(at).write_unaligned(record) };
                }
            }
            let call = Call::new(&function);
            match first {
                _ if function.name == "podrank_validate" => {
                    prop_assert_eq!(call.run(&function), PODRANK_OK);
                    // SAFETY: outputs of these types.
                    let found = unsafe { (call.pointers[1].cast::<usize>().read(), call.pointers[2].cast::<i32>().read()) };
                    prop_assert_eq!(found, first.unwrap_or((list.len(), PODRANK_OK)));
                }
                Some((_, status)) => call.rejected(&function, status, "invalid records"),
                None => prop_assert_eq!(call.run(&function), PODRANK_OK, "{}", function.name),
            }
        }
    }
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn promise_8_threads_share_their_inputs((policy, list) in cases(200..300)) {
        let expected = C.sort(&policy, &list);
        std::thread::scope(|scope| {
            for k in 0..16 {
                let (list, expected) = (&list, &expected);
                scope.spawn(move || {
                    for _ in 0..8 {
                        assert_eq!(C.select_with(&policy, list, k * 12, k), expected[..k * 12]);
                        assert!(C.compare(&policy, &list[k], &list[k + 1]) == C.compare(&policy, &list[k + 1], &list[k]).reverse());
                    }
                });
            }
        });
    }
}

#[test]
fn promise_9_only_the_node_table_keeps_pointers() {
    // Every other buffer is freed after each call of the tests above. AddressSanitizer and valgrind would report a use.
    let names: Vec<String> = (0..6).map(|i| format!("worker-{i}")).collect();
    let mut table = [podrank_node_name { name: null(), len: 0 }; 8];
    let mut number = |name: &str| {
        let mut node = u32::MAX;
        let status = unsafe {
            podrank_node_number(table.as_mut_ptr(), 8, name.as_ptr().cast(), name.len(), &raw mut node)
        };
        assert_eq!(status, PODRANK_OK);
        node
    };
    let numbers: Vec<u32> = names.iter().map(|name| number(name)).collect();
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 6);
    assert!(numbers.iter().all(|&number| number < 8));
    for (name, &expected) in names.iter().zip(&numbers) {
        assert_eq!(number(&name.clone()), expected, "the same name elsewhere in memory");
    }
    // The table still points to the first spelling of each, not to the copies.
    for (name, &slot) in names.iter().zip(&numbers) {
        assert_eq!(table[slot as usize].name, name.as_ptr().cast());
        assert_eq!(table[slot as usize].len, name.len());
    }
}

/// Any number, or one at which a function may go wrong.
fn noise_number(noise: &mut impl Iterator<Item = u8>, at_an_edge: bool) -> i64 {
    const EDGES: [i64; 8] = [0, 1, -1, i64::MIN, i64::MIN + 1, i64::MAX, i32::MIN as i64, i32::MAX as i64];
    let bytes = [(); 8].map(|()| noise.next().unwrap());
    if at_an_edge { EDGES[usize::from(bytes[0]) % EDGES.len()] } else { i64::from_ne_bytes(bytes) }
}

proptest! {
    #![proptest_config(config(2048))]

    #[test]
    fn promise_10_every_call_returns(noise in prop::collection::vec(any::<u8>(), 4096), sparse in any::<bool>()) {
        let mut noise = noise.into_iter().cycle();
        for mut function in all() {
            for buffer in function.buffers.iter_mut().filter(|buffer| buffer.usage != Use::Out) {
                // The table of node names holds pointers: the exception that the promise names.
                if buffer.name == "table" {
                    continue;
                }
                for byte in &mut buffer.bytes {
                    let noise = noise.next().unwrap();
                    if !sparse || noise % 16 == 0 {
                        *byte = noise;
                    }
                }
                if buffer.usage == Use::Options {
                    // The caller promises that this many bytes are readable.
                    buffer.bytes[..4].copy_from_slice(&16_u32.to_ne_bytes());
                }
            }
            for (_, number) in &mut function.numbers {
                *number = noise_number(&mut noise, sparse);
            }
            let call = Call::new(&function);
            let status = call.run(&function);
            prop_assert!((0..=34).contains(&status));
            let writes_in_any_case =
                ["podrank_count_ranks", "podrank_spread", "podrank_empty_nodes", "podrank_steer"];
            if status != PODRANK_OK && !writes_in_any_case.contains(&function.name) {
                call.rejected(&function, status, "noise");
            }
        }
        for function in plain() {
            let numbers = function.numbers.iter().map(|_| noise_number(&mut noise, sparse));
            (function.call)(&numbers.collect::<Vec<_>>());
        }
    }
}

/// A block of memory with an inaccessible page on each side.
struct Guarded {
    map: *mut u8,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new() -> Self {
        // SAFETY: a new mapping of three pages, the outer ones then closed.
        unsafe {
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let map = libc::mmap(null_mut(), 3 * PAGE, protection, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            for closed in [map, map.wrapping_byte_add(2 * PAGE)] {
                assert_eq!(libc::mprotect(closed, PAGE, libc::PROT_NONE), 0);
            }
            Self { map: map.cast() }
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped so.
        unsafe { libc::munmap(self.map.cast(), 3 * PAGE) };
    }
}

/// A read or write beyond either end of any buffer would end the test.
#[test]
fn no_byte_beyond_a_buffer_is_touched() {
    for function in all() {
        for at_the_end in [false, true] {
            let mut call = Call::new(&function);
            let pages: Vec<Guarded> = function.buffers.iter().map(|_| Guarded::new()).collect();
            for ((buffer, page), pointer) in function.buffers.iter().zip(&pages).zip(&mut call.pointers) {
                let offset = if at_the_end { 2 * PAGE - buffer.bytes.len() } else { PAGE };
                *pointer = page.map.wrapping_add(offset);
                // SAFETY: inside the open page.
                unsafe { pointer.copy_from(buffer.bytes.as_ptr(), buffer.bytes.len()) };
            }
            assert_eq!(call.run(&function), PODRANK_OK, "{}", function.name);
        }
    }
}

#[test]
fn options_grow() {
    let decide = |bytes: &[u64]| {
        let (a, mut ordering) = (record(&podrank::Pod::new()), 77);
        let status = unsafe { podrank_compare(&a, &a, bytes.as_ptr().cast(), &raw mut ordering) };
        assert_eq!(ordering, if status == PODRANK_OK { 0 } else { 77 });
        status
    };
    let sized = |size: u32, flags: u32, rest: &[u64]| {
        let head = u64::from_ne_bytes([size.to_ne_bytes(), flags.to_ne_bytes()].concat().try_into().unwrap());
        [&[head], rest].concat()
    };
    assert_eq!(decide(&sized(16, 1, &[99])), PODRANK_OK);
    assert_eq!(decide(&sized(24, 15, &[99, 0])), PODRANK_OK, "larger, with zeros");
    assert_eq!(decide(&sized(24, 0, &[99, 1 << 63])), PODRANK_ERR_OPTIONS_SIZE, "larger, with more");
    assert_eq!(decide(&sized(1024, 0, &[0; 127])), PODRANK_OK);
    for size in [0, 1, 8, 15, 1025, u32::MAX] {
        // Only the size is read.
        assert_eq!(decide(&sized(size, 0, &[])), PODRANK_ERR_OPTIONS_SIZE, "{size}");
    }
    for bit in 4..32 {
        assert_eq!(decide(&sized(16, 1 << bit, &[0])), PODRANK_ERR_OPTIONS_FLAGS, "bit {bit}");
    }
}

#[test]
fn now_needs_its_flag() {
    let pod = |ready_time, uid| podrank_pod {
        ready_time,
        flags: PODRANK_POD_READY,
        uid: [uid; 16],
        ..record(&podrank::Pod::new())
    };
    // In one age bucket at 2^20, where the UID decides; as they are, the later one goes first.
    let (earlier, later) = (pod(10, 1), pod(20, 2));
    let compare = |flags, now| {
        let (options, mut ordering) = (podrank_options { size: 16, flags, now }, 77);
        let status = unsafe { podrank_compare(&earlier, &later, &options, &raw mut ordering) };
        (status, ordering)
    };
    assert_eq!(compare(PODRANK_OPTIONS_NOW, 1 << 20), (PODRANK_OK, -1));
    assert_eq!(compare(0, 0), (PODRANK_OK, 1), "the default");
    assert_eq!(compare(PODRANK_OPTIONS_NOW, PODRANK_TIME_UNSET), (PODRANK_ERR_OPTIONS_NOW, 77));
    assert_eq!(
        compare(PODRANK_OPTIONS_NOW | PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF, 1 << 20),
        (PODRANK_OK, 1)
    );
    for now in [1 << 20, 1, -1, PODRANK_TIME_UNSET] {
        let forgotten = (PODRANK_ERR_OPTIONS_NOW, 77);
        assert_eq!(compare(0, now), forgotten, "{now}");
        assert_eq!(compare(PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF, now), forgotten, "{now}");
    }
}

#[test]
fn gos_zero_time_is_unset() {
    let from_unix = |seconds, nanoseconds| {
        let mut time = 77;
        assert_eq!(unsafe { podrank_time_from_unix(seconds, nanoseconds, &raw mut time) }, PODRANK_OK);
        time
    };
    assert_eq!(from_unix(-62_135_596_800, 0), PODRANK_TIME_UNSET);
    assert_eq!(from_unix(-62_135_596_801, 1_000_000_000), PODRANK_TIME_UNSET);
    assert_eq!(from_unix(-62_135_596_800, 1), PODRANK_TIME_UNSET + 1);
    assert_eq!(from_unix(-62_135_596_801, 0), PODRANK_TIME_UNSET + 1);
}

/// Under Miri, a reference to memory that nobody initialised would end this test.
#[test]
fn outputs_need_not_be_initialised() {
    for function in &all() {
        let call = Call::new(function);
        let mut uninit: Vec<Vec<std::mem::MaybeUninit<u64>>> = Vec::new();
        let mut pointers = call.pointers.clone();
        for (buffer, pointer) in function.buffers.iter().zip(&mut pointers) {
            if buffer.usage == Use::Out {
                uninit.push(Vec::with_capacity(buffer.bytes.len() / 8 + 1));
                *pointer = uninit.last_mut().unwrap().as_mut_ptr().cast();
            }
        }
        // SAFETY: every buffer is as long as the lengths say.
        assert_eq!(
            unsafe { (function.call)(&pointers, &call.lens, &numbers(function)) },
            PODRANK_OK,
            "{}",
            function.name
        );
        // And it writes there what it writes to other memory.
        let call = Call::new(function);
        assert_eq!(call.run(function), PODRANK_OK);
        for (i, buffer) in function.buffers.iter().enumerate().filter(|(_, buffer)| buffer.usage == Use::Out)
        {
            if buffer.name == "scratch" || buffer.name == "scores" || buffer.name == "rows" {
                continue;
            }
            // SAFETY: as above; written by now.
            let written = unsafe { std::slice::from_raw_parts(pointers[i], buffer.bytes.len()) };
            assert_eq!(written, call.contents(i, buffer), "{}: {}", function.name, buffer.name);
        }
    }
}

#[test]
fn texts_are_read() {
    for (text, expected, status) in [
        ("Pending", PODRANK_PHASE_PENDING, PODRANK_OK),
        ("Unknown", PODRANK_PHASE_UNKNOWN, PODRANK_OK),
        ("Running", PODRANK_PHASE_RUNNING, PODRANK_OK),
        ("", PODRANK_PHASE_PENDING, PODRANK_OK),
        ("Succeeded", 77, PODRANK_ERR_INACTIVE),
        ("Failed", 77, PODRANK_ERR_INACTIVE),
    ] {
        let mut phase = 77;
        assert_eq!(unsafe { podrank_phase_parse(text.as_ptr().cast(), text.len(), &raw mut phase) }, status);
        assert_eq!(phase, expected, "{text}");
    }
    // ffi/check/vectors.c reads all texts of UIDs and costs. These are no UTF-8.
    let (mut uid, mut cost) = ([0; 16], 77);
    let text = b"0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a0\xff";
    let status = unsafe { podrank_uid_parse(text.as_ptr().cast(), text.len(), uid.as_mut_ptr(), 16) };
    assert_eq!(status, PODRANK_ERR_UID_DIGIT);
    let status = unsafe { podrank_deletion_cost_parse(b"1\xff".as_ptr().cast(), 2, &raw mut cost) };
    assert_eq!(status, PODRANK_ERR_COST_DIGIT);
}

#[test]
fn node_tables_fill_up_and_ranks_need_known_nodes() {
    let mut table = [podrank_node_name { name: null(), len: 0 }; 2];
    let mut node = 77;
    let mut number = |name: &str, table_len| unsafe {
        podrank_node_number(table.as_mut_ptr(), table_len, name.as_ptr().cast(), name.len(), &raw mut node)
    };
    assert_eq!(number("a", 2), PODRANK_OK);
    assert_eq!(number("b", 2), PODRANK_OK);
    assert_eq!(number("c", 2), PODRANK_ERR_NODES_FULL);
    assert_eq!(number("a", 2), PODRANK_OK);
    assert_eq!(number("a", 0), PODRANK_ERR_NODES_FULL);
    assert_eq!(number("", 2), PODRANK_ERR_NODE_NAME);

    let on = |node| podrank_pod { node, flags: PODRANK_POD_ASSIGNED, ..record(&podrank::Pod::new()) };
    let mut own = [on(0), on(2)];
    let mut counts = [0; 2];
    let mut rank = |others: &[podrank_pod], own: &mut [podrank_pod]| unsafe {
        podrank_count_ranks(
            own.as_mut_ptr(),
            own.len(),
            others.as_ptr(),
            others.len(),
            counts.as_mut_ptr(),
            2,
        )
    };
    assert_eq!(rank(&[], &mut own), PODRANK_ERR_NODE);
    assert_eq!(own.map(|pod| pod.rank), [0, 0]);
    own[1].node = 1;
    assert_eq!(rank(&[on(2)], &mut own), PODRANK_ERR_NODE);
    assert_eq!(own.map(|pod| pod.rank), [0, 0]);
    assert_eq!(rank(&[on(1), on(1)], &mut own), PODRANK_OK);
    assert_eq!(own.map(|pod| pod.rank), [1, 3]);
}

#[test]
fn nodes_have_domains_of_few_numbers() {
    let mut pods = [podrank_pod { flags: PODRANK_POD_ASSIGNED, ..record(&podrank::Pod::new()) }];
    let mut empty = |domains: &[u32]| unsafe {
        let (weights, mut counts) = ([0_u64; 1], [0_u32; 2]);
        let mut scratch = [podrank_empty_nodes_scratch { words: [0; 4] }; 1];
        let (domains, domains_len) = (domains.as_ptr(), domains.len());
        podrank_empty_nodes(
            pods.as_mut_ptr(),
            1,
            weights.as_ptr(),
            1,
            domains,
            domains_len,
            counts.as_mut_ptr(),
            2,
            scratch.as_mut_ptr(),
            1,
        )
    };
    assert_eq!(empty(&[0]), PODRANK_OK);
    assert_eq!(empty(&[1]), PODRANK_ERR_DOMAIN);
}

#[test]
fn the_library_says_what_it_is() {
    let version = unsafe { CStr::from_ptr(podrank_version()) }.to_str().unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(podrank_abi_1(), PODRANK_ABI);
}
