//! Every C function, described by its parameters, so that a test can check a promise on all of them: those that take
//! buffers, and those that take only numbers. [`declared`] reads the header, so that a test can compare it with the two lists.

use crate::implementation::record;
use podrank::{Flags, Pod};
use podrank_ffi::*;
use std::ffi::{CStr, c_char};
use std::mem::{align_of, size_of};

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

/// The bytes of records.
pub fn bytes<T>(values: &[T]) -> Vec<u8> {
    // SAFETY: plain integers in repr(C) structs without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }.to_vec()
}

fn input<T>(name: &'static str, values: &[T], len: Option<usize>) -> Buffer {
    Buffer {
        name,
        usage: Use::In,
        align: align_of::<T>(),
        bytes: bytes(values),
        len,
        least: Least::Any,
        records: false,
    }
}

fn output<T>(name: &'static str, count: usize, len: Option<usize>) -> Buffer {
    assert!(count == 1 || len.is_some(), "every list that a function writes has a length");
    let bytes = vec![0xA5; count * size_of::<T>()];
    Buffer { name, usage: Use::Out, align: align_of::<T>(), bytes, len, least: Least::Any, records: false }
}

fn pods(name: &'static str, count: u32, len: Option<usize>) -> Buffer {
    let pod = |i| Pod { restarts: i * 7 % 5, node: i % 3, rank: 9, flags: Flags::ASSIGNED, ..Pod::new() };
    let pods: Vec<podrank_pod> = (0..count).map(|i| record(&pod(i))).collect();
    Buffer { records: true, ..input(name, &pods, len) }
}

/// Pods of which some have to be steered, and some are blocked.
fn tiered_pods(name: &'static str, count: u16, len: Option<usize>) -> Buffer {
    let flags = |i| if i % 2 == 0 { Flags::ASSIGNED } else { Flags::NONE };
    let pods: Vec<podrank_pod> =
        (0..count).map(|i| record(&Pod { tier: i, flags: flags(i), ..Pod::new() })).collect();
    Buffer { records: true, ..input(name, &pods, len) }
}

fn options() -> Buffer {
    let options = podrank_options { size: 16, flags: PODRANK_OPTIONS_NOW, now: 5 };
    Buffer { usage: Use::Options, ..input("options", &[options], None) }
}

const FREE: podrank_node_name = podrank_node_name { name: std::ptr::null(), len: 0 };

/// Returns all of them.
#[allow(clippy::too_many_lines)] // a table
pub fn all() -> Vec<Function> {
    let text = |name, text: &str| input(name, text.as_bytes(), Some(0));
    let mut functions = vec![
        Function {
            name: "podrank_compare",
            buffers: vec![
                pods("a", 1, None),
                pods("b", 1, None),
                options(),
                output::<i32>("ordering", 1, None),
            ],
            lens: vec![],
            numbers: vec![],
            call: |p, _, _| unsafe { podrank_compare(p[0].cast(), p[1].cast(), p[2].cast(), p[3].cast()) },
        },
        Function {
            name: "podrank_decide",
            buffers: vec![
                pods("a", 1, None),
                pods("b", 1, None),
                options(),
                output::<i32>("ordering", 1, None),
                output::<u8>("rule", 1, None),
            ],
            lens: vec![],
            numbers: vec![],
            call: |p, _, _| unsafe {
                podrank_decide(p[0].cast(), p[1].cast(), p[2].cast(), p[3].cast(), p[4])
            },
        },
        Function {
            name: "podrank_explain",
            buffers: vec![
                pods("a", 1, None),
                pods("b", 1, None),
                options(),
                output::<podrank_row>("rows", PODRANK_ROW_MAX, Some(0)).fixed(PODRANK_ROW_MAX),
                output::<usize>("count", 1, None),
            ],
            lens: vec![PODRANK_ROW_MAX],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_explain(p[0].cast(), p[1].cast(), p[2].cast(), p[3].cast(), n[0], p[4].cast())
            },
        },
        Function {
            name: "podrank_key",
            buffers: vec![
                pods("pod", 1, None),
                options(),
                output::<u8>("key", PODRANK_KEY_LEN, Some(0)).fixed(PODRANK_KEY_LEN),
            ],
            lens: vec![PODRANK_KEY_LEN],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_key(p[0].cast(), p[1].cast(), p[2], n[0]) },
        },
        Function {
            name: "podrank_select",
            buffers: vec![
                pods("pods", 7, Some(0)),
                options(),
                output::<u32>("victims", 4, Some(1)),
                output::<podrank_scratch>("scratch", 4, Some(2)),
                output::<usize>("selected", 1, None),
            ],
            lens: vec![7, 4, 4],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_select(
                    p[0].cast(),
                    n[0],
                    p[1].cast(),
                    p[2].cast(),
                    n[1],
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                )
            },
        },
        Function {
            name: "podrank_sort",
            buffers: vec![pods("pods", 7, Some(0)), options(), output::<u32>("order", 7, Some(1)).each(0)],
            lens: vec![7, 7],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_sort(p[0].cast(), n[0], p[1].cast(), p[2].cast(), n[1]) },
        },
        Function {
            name: "podrank_upstream",
            buffers: vec![
                pods("a", 1, None),
                pods("b", 1, None),
                options(),
                output::<i32>("relation", 1, None),
                output::<u8>("rule", 1, None),
            ],
            lens: vec![],
            numbers: vec![],
            call: |p, _, _| unsafe {
                podrank_upstream(p[0].cast(), p[1].cast(), p[2].cast(), p[3].cast(), p[4])
            },
        },
        Function {
            name: "podrank_settle",
            buffers: vec![
                pods("pods", 7, Some(0)),
                options(),
                output::<u32>("order", 7, Some(1)).each(0),
                output::<u64>("scores", 7, Some(2)).each(0),
                output::<usize>("certain_len", 1, None),
                output::<usize>("contested_len", 1, None),
            ],
            lens: vec![7, 7, 7],
            numbers: vec![("k", 3)],
            call: |p, n, x| unsafe {
                podrank_settle(
                    p[0].cast(),
                    n[0],
                    p[1].cast(),
                    x[0] as usize,
                    p[2].cast(),
                    n[1],
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                    p[5].cast(),
                )
            },
        },
        Function {
            name: "podrank_spread",
            buffers: vec![
                Buffer { usage: Use::InOut, ..pods("pods", 7, Some(0)) },
                pods("others", 5, Some(1)),
                options(),
                output::<u32>("counts", 3, Some(2)),
                output::<u32>("scratch", 7, Some(3)).each(0),
            ],
            lens: vec![7, 5, 3, 7],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_spread(
                    p[0].cast(),
                    n[0],
                    p[1].cast(),
                    n[1],
                    p[2].cast(),
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                    n[3],
                )
            },
        },
        Function {
            name: "podrank_steer",
            buffers: vec![
                tiered_pods("pods", 7, Some(0)),
                options(),
                input("prices", &[0_u8, PODRANK_STEER_PRICE_FIXED, 2, 1, 7], Some(1)),
                output::<i32>("costs", 7, Some(2)).each(0),
                output::<podrank_steer_scratch>("scratch", 7, Some(3)).each(0),
                output::<podrank_blocked>("blocked", 3, Some(4)),
                output::<podrank_steered>("steered", 1, None),
            ],
            lens: vec![7, 5, 7, 7, 3],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_steer(
                    p[0].cast(),
                    n[0],
                    p[1].cast(),
                    p[2],
                    n[1],
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                    n[3],
                    p[5].cast(),
                    n[4],
                    p[6].cast(),
                )
            },
        },
        Function {
            name: "podrank_validate",
            buffers: vec![
                pods("pods", 7, Some(0)),
                output::<usize>("first_unsound", 1, None),
                output::<i32>("why", 1, None),
            ],
            lens: vec![7],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_validate(p[0].cast(), n[0], p[1].cast(), p[2].cast()) },
        },
        Function {
            name: "podrank_count_ranks",
            buffers: vec![
                Buffer { usage: Use::InOut, ..pods("pods", 7, Some(0)) },
                pods("others", 5, Some(1)),
                output::<u32>("counts", 3, Some(2)),
            ],
            lens: vec![7, 5, 3],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_count_ranks(p[0].cast(), n[0], p[1].cast(), n[1], p[2].cast(), n[2])
            },
        },
        Function {
            name: "podrank_time_from_unix",
            buffers: vec![output::<i64>("time", 1, None)],
            lens: vec![],
            numbers: vec![("seconds", -2), ("nanoseconds", 5)],
            call: |p, _, x| unsafe { podrank_time_from_unix(x[0], x[1] as u32, p[0].cast()) },
        },
        Function {
            name: "podrank_uid_parse",
            buffers: vec![
                text("text", "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01"),
                output::<u8>("uid", 16, Some(1)).fixed(16),
            ],
            lens: vec![36, 16],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_uid_parse(p[0].cast(), n[0], p[1], n[1]) },
        },
        Function {
            name: "podrank_uid_format",
            buffers: vec![input("uid", &[0xAB_u8; 16], None), output::<u8>("text", 37, Some(0)).fixed(37)],
            lens: vec![37],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_uid_format(p[0], p[1].cast(), n[0]) },
        },
        Function {
            name: "podrank_phase_parse",
            buffers: vec![text("text", "Running"), output::<u8>("phase", 1, None)],
            lens: vec![7],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_phase_parse(p[0].cast(), n[0], p[1]) },
        },
        Function {
            name: "podrank_deletion_cost_parse",
            buffers: vec![text("text", "-100"), output::<i32>("cost", 1, None)],
            lens: vec![4],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_deletion_cost_parse(p[0].cast(), n[0], p[1].cast()) },
        },
        Function {
            name: "podrank_node_number",
            buffers: vec![
                Buffer { usage: Use::InOut, ..input("table", &[FREE; 4], Some(0)) },
                Buffer { len: Some(1), ..text("name", "worker-1") },
                output::<u32>("node", 1, None),
            ],
            lens: vec![4, 8],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_node_number(p[0].cast(), n[0], p[1].cast(), n[1], p[2].cast()) },
        },
    ];
    functions.extend(around_the_order());
    functions.extend(of_deployments());
    functions.extend(of_stateful_sets());
    functions.extend(of_jobs());
    functions.extend(of_daemon_sets());
    functions
}

/// What a Job's sync asks for.
fn of_jobs() -> Vec<Function> {
    // Two pods of index 3, one beyond the completions and one without an index.
    let job = podrank_job {
        parallelism: 3,
        completions: 5,
        succeeded: 1,
        flags: PODRANK_JOB_COMPLETIONS | PODRANK_JOB_INDEXED,
        failed: 0,
        backoff_limit: 6,
        restarts: 0,
        failed_indexes: 0,
        active_deadline_seconds: 0,
        start_time: 0,
        max_failed_indexes: 0,
        reserved: [0; 12],
    };
    vec![
        Function {
            name: "podrank_job_next",
            buffers: vec![
                input("job", &[job], None),
                pods("pods", 7, Some(0)),
                input("indexes", &[3_i64, 3, 7, 1, -1, 0, 2], Some(1)).each(0),
                output::<u32>("order", 7, Some(2)).each(0),
                output::<podrank_outcome>("outcomes", 7, Some(3)).each(0),
                output::<podrank_job_step>("step", 1, None),
            ],
            lens: vec![7, 7, 7, 7],
            numbers: vec![("now", 5)],
            call: |p, n, x| unsafe {
                podrank_job_next(
                    p[0].cast(),
                    x[0],
                    p[1].cast(),
                    n[0],
                    p[2].cast(),
                    n[1],
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                    n[3],
                    p[5].cast(),
                )
            },
        },
        Function {
            name: "podrank_job_index_parse",
            buffers: vec![input("text", b"+12", Some(0)), output::<i64>("index", 1, None)],
            lens: vec![3],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_job_index_parse(p[0].cast(), n[0], p[1].cast()) },
        },
    ]
}

/// What a `DaemonSet`'s sync asks for.
fn of_daemon_sets() -> Vec<Function> {
    let set = podrank_daemon_set {
        max_surge: 0,
        max_unavailable: 34,
        flags: PODRANK_DAEMON_SET_UNAVAILABLE_PERCENT,
        reserved: [0; 20],
    };
    let node =
        PODRANK_DAEMON_SET_NODE_EXISTS | PODRANK_DAEMON_SET_NODE_MAY_START | PODRANK_DAEMON_SET_NODE_MAY_KEEP;
    let flags =
        PODRANK_DAEMON_SET_POD_ASSIGNED | PODRANK_DAEMON_SET_POD_READY | PODRANK_DAEMON_SET_POD_AVAILABLE;
    let pod =
        |node| podrank_daemon_set_pod { creation_time: 5, name_order: node, node, flags, reserved: [0; 7] };
    vec![Function {
        name: "podrank_daemon_set_next",
        buffers: vec![
            input("set", &[set], None),
            input("nodes", &[node; 4], Some(0)),
            input("pods", &[pod(0), pod(1), pod(2)], Some(1)),
            output::<u32>("order", 3, Some(2)).each(1),
            output::<podrank_outcome>("outcomes", 3, Some(3)).each(1),
            output::<podrank_daemon_set_step>("step", 1, None),
        ],
        lens: vec![4, 3, 3, 3],
        numbers: vec![],
        call: |p, n, _| unsafe {
            podrank_daemon_set_next(
                p[0].cast(),
                p[1],
                n[0],
                p[2].cast(),
                n[1],
                p[3].cast(),
                n[2],
                p[4].cast(),
                n[3],
                p[5].cast(),
            )
        },
    }]
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
pub fn plain() -> [Plain; 10] {
    /// NULL or a text.
    fn words(text: *const c_char) {
        // SAFETY: the functions return NULL or a static text.
        assert!(
            text.is_null() || unsafe { CStr::from_ptr(text) }.to_str().is_ok_and(|text| !text.is_empty())
        );
    }
    /// The nanoseconds that are left, or the nearest number that is not [`PODRANK_TIME_UNSET`].
    fn time_left(x: &[i64]) {
        let ttl = i128::from(x[0] as i32) * 1_000_000_000;
        let left = (i128::from(x[1]) + ttl - i128::from(x[2])).clamp((i64::MIN + 1).into(), i64::MAX.into());
        let never = x[1] == PODRANK_TIME_UNSET || x[2] == PODRANK_TIME_UNSET;
        let expected = if never { PODRANK_TIME_UNSET.into() } else { left };
        assert_eq!(i128::from(podrank_job_time_left(x[0] as i32, x[1], x[2])), expected, "{x:?}");
    }
    let number = &["reason"];
    [
        Plain { name: "podrank_version", numbers: &[], call: |_| words(podrank_version()) },
        Plain {
            name: "podrank_key_format",
            numbers: &[],
            call: |_| assert_eq!(podrank_key_format(), PODRANK_KEY_FORMAT),
        },
        Plain { name: "podrank_abi_1", numbers: &[], call: |_| assert_eq!(podrank_abi_1(), PODRANK_ABI) },
        Plain { name: "podrank_rule_str", numbers: &["rule"], call: |x| words(podrank_rule_str(x[0] as u8)) },
        Plain {
            name: "podrank_status_str",
            numbers: &["status"],
            call: |x| words(podrank_status_str(x[0] as i32)),
        },
        Plain {
            name: "podrank_deployment_reason_str",
            numbers: number,
            call: |x| words(podrank_deployment_reason_str(x[0] as u8)),
        },
        Plain {
            name: "podrank_stateful_set_reason_str",
            numbers: number,
            call: |x| words(podrank_stateful_set_reason_str(x[0] as u8)),
        },
        Plain {
            name: "podrank_daemon_set_reason_str",
            numbers: number,
            call: |x| words(podrank_daemon_set_reason_str(x[0] as u8)),
        },
        Plain {
            name: "podrank_job_reason_str",
            numbers: number,
            call: |x| words(podrank_job_reason_str(x[0] as u8)),
        },
        Plain {
            name: "podrank_job_time_left",
            numbers: &["ttl_seconds", "finished", "now"],
            call: time_left,
        },
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

/// What a `StatefulSet`'s sync asks for.
fn of_stateful_sets() -> Vec<Function> {
    let set = podrank_stateful_set {
        replicas: 2,
        start: 1,
        partition: 1,
        max_unavailable: 25,
        flags: PODRANK_STATEFUL_SET_UNAVAILABLE_PERCENT,
        reserved: [0; 12],
    };
    let flags = PODRANK_STATEFUL_SET_POD_RUNNING
        | PODRANK_STATEFUL_SET_POD_READY
        | PODRANK_STATEFUL_SET_POD_AVAILABLE;
    let member = |ordinal| podrank_stateful_set_pod { ordinal, flags, reserved: [0; 3] };
    vec![
        Function {
            name: "podrank_stateful_set_ordinal",
            buffers: vec![
                input("set", b"web", Some(0)),
                input("pod", b"web-10", Some(1)),
                output::<i32>("ordinal", 1, None),
            ],
            lens: vec![3, 6],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_stateful_set_ordinal(p[0].cast(), n[0], p[1].cast(), n[1], p[2].cast())
            },
        },
        Function {
            name: "podrank_stateful_set_next",
            buffers: vec![
                input("set", &[set], None),
                input("members", &[member(1), member(2), member(10)], Some(0)),
                output::<podrank_stateful_set_outcome>("outcomes", 3, Some(1)).each(0),
                output::<podrank_stateful_set_step>("step", 1, None),
            ],
            lens: vec![3, 3],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_stateful_set_next(p[0].cast(), p[1].cast(), n[0], p[2].cast(), n[1], p[3].cast())
            },
        },
    ]
}

/// What a Deployment's sync asks for.
fn of_deployments() -> Vec<Function> {
    // One old set of 3 of 5 replicas, with annotations, and the new one.
    let old = podrank_replica_set {
        creation_time: 5,
        name_order: 1,
        replicas: 3,
        status_replicas: 3,
        available_replicas: 2,
        desired_replicas: 4,
        max_replicas: 5,
        flags: PODRANK_REPLICA_SET_DESIRED | PODRANK_REPLICA_SET_MAX,
        reserved: [0; 15],
    };
    let new = podrank_replica_set {
        creation_time: 6,
        name_order: 0,
        flags: PODRANK_REPLICA_SET_CURRENT_TEMPLATE,
        ..old
    };
    let deployment = podrank_deployment {
        replicas: 5,
        status_replicas: 6,
        max_surge: 25,
        max_unavailable: 1,
        flags: PODRANK_DEPLOYMENT_SURGE_PERCENT,
        reserved: [0; 12],
    };
    vec![
        Function {
            name: "podrank_percent_parse",
            buffers: vec![input("text", b"25%", Some(0)), output::<u32>("percent", 1, None)],
            lens: vec![3],
            numbers: vec![],
            call: |p, n, _| unsafe { podrank_percent_parse(p[0].cast(), n[0], p[1].cast()) },
        },
        Function {
            name: "podrank_replica_set_annotations",
            buffers: vec![
                input("desired", b"+7", Some(0)),
                input("max", b"13", Some(1)),
                Buffer { usage: Use::InOut, ..input("set", &[old], None) },
            ],
            lens: vec![2, 2],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_replica_set_annotations(p[0].cast(), n[0], p[1].cast(), n[1], p[2].cast())
            },
        },
        Function {
            name: "podrank_deployment_next",
            buffers: vec![
                input("deployment", &[deployment], None),
                input("sets", &[old, new, old], Some(0)),
                output::<podrank_replica_set_change>("changes", 3, Some(1)).each(0),
                output::<podrank_deployment_step>("step", 1, None),
            ],
            lens: vec![3, 3],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_deployment_next(p[0].cast(), p[1].cast(), n[0], p[2].cast(), n[1], p[3].cast())
            },
        },
    ]
}

/// The functions for a controller's other decisions.
#[allow(clippy::too_many_lines)] // a table
fn around_the_order() -> Vec<Function> {
    let key = |byte| podrank_pod_key { bytes: [byte; 16] };
    // Two creations and three deletions are pending.
    let expected = podrank_expectations { since: 5, creations: 2, deletions: 3, keys: 3, is_set: 1 };
    let state =
        podrank_plan_state { wanted: 3, active: 5, burst_replicas: 500, flags: PODRANK_PLAN_SATISFIED };
    let expectations = || input("expectations", &[expected], None);
    let written = |buffer| Buffer { usage: Use::InOut, ..buffer };
    let room = || written(input("room", &[key(1), key(2), key(3), key(0)], Some(0)));
    vec![
        Function {
            name: "podrank_plan",
            buffers: vec![
                input("state", &[state], None),
                output::<u32>("creations", 1, None),
                output::<u32>("deletions", 1, None),
            ],
            lens: vec![],
            numbers: vec![],
            call: |p, _, _| unsafe { podrank_plan(p[0].cast(), p[1].cast(), p[2].cast()) },
        },
        Function {
            name: "podrank_slow_start_begin",
            buffers: vec![output::<podrank_slow_start>("start", 1, None)],
            lens: vec![],
            numbers: vec![("count", 7)],
            call: |p, _, x| unsafe { podrank_slow_start_begin(x[0] as u32, p[0].cast()) },
        },
        Function {
            name: "podrank_slow_start_report",
            buffers: vec![written(input("start", &[podrank_slow_start { batch: 2, missing: 6 }], None))],
            lens: vec![],
            numbers: vec![("failures", 1)],
            call: |p, _, x| unsafe { podrank_slow_start_report(p[0].cast(), x[0] as u32) },
        },
        Function {
            name: "podrank_expectations_expect_creations",
            buffers: vec![written(expectations())],
            lens: vec![],
            numbers: vec![("count", 7), ("now", 9)],
            call: |p, _, x| unsafe { podrank_expectations_expect_creations(p[0].cast(), x[0] as u32, x[1]) },
        },
        Function {
            name: "podrank_expectations_expect_deletions",
            buffers: vec![written(expectations()), room(), input("keys", &[key(7), key(8), key(7)], Some(1))],
            lens: vec![4, 3],
            numbers: vec![("now", 9)],
            call: |p, n, x| unsafe {
                podrank_expectations_expect_deletions(p[0].cast(), p[1].cast(), n[0], p[2].cast(), n[1], x[0])
            },
        },
        Function {
            name: "podrank_expectations_creations_observed",
            buffers: vec![written(expectations())],
            lens: vec![],
            numbers: vec![("count", 1)],
            call: |p, _, x| unsafe { podrank_expectations_creations_observed(p[0].cast(), x[0] as u32) },
        },
        Function {
            name: "podrank_expectations_deletion_observed",
            buffers: vec![
                written(expectations()),
                room(),
                input("key", &[key(2)], None),
                output::<i32>("counted", 1, None),
            ],
            lens: vec![4],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_expectations_deletion_observed(
                    p[0].cast(),
                    p[1].cast(),
                    n[0],
                    p[2].cast(),
                    p[3].cast(),
                )
            },
        },
        Function {
            name: "podrank_expectations_satisfied",
            buffers: vec![expectations(), output::<i32>("satisfied", 1, None)],
            lens: vec![],
            numbers: vec![("now", 9)],
            call: |p, _, x| unsafe { podrank_expectations_satisfied(p[0].cast(), x[0], p[1].cast()) },
        },
        Function {
            name: "podrank_availability",
            buffers: vec![
                pods("pods", 7, Some(0)),
                output::<usize>("ready", 1, None),
                output::<usize>("available", 1, None),
                output::<u64>("look_again", 1, None),
            ],
            lens: vec![7],
            numbers: vec![("min_ready_seconds", 10), ("now", 9)],
            call: |p, n, x| unsafe {
                podrank_availability(
                    p[0].cast(),
                    n[0],
                    x[0] as u32,
                    x[1],
                    p[1].cast(),
                    p[2].cast(),
                    p[3].cast(),
                )
            },
        },
        Function {
            name: "podrank_odds",
            buffers: vec![
                pods("pods", 7, Some(0)),
                options(),
                output::<u32>("order", 7, Some(1)).each(0),
                output::<podrank_pod_odds>("odds", 7, Some(2)).each(0),
                output::<podrank_odds_scratch>("scratch", 7, Some(3)).each(0),
                output::<usize>("certain_len", 1, None),
                output::<usize>("contested_len", 1, None),
            ],
            lens: vec![7; 4],
            numbers: vec![("k", 3)],
            call: |p, n, x| unsafe {
                podrank_odds(
                    p[0].cast(),
                    n[0],
                    p[1].cast(),
                    x[0] as usize,
                    p[2].cast(),
                    n[1],
                    p[3].cast(),
                    n[2],
                    p[4].cast(),
                    n[3],
                    p[5].cast(),
                    p[6].cast(),
                )
            },
        },
        Function {
            name: "podrank_upstream_sort",
            buffers: vec![
                pods("pods", 7, Some(0)),
                options(),
                Buffer { usage: Use::InOut, ..input("list", &[6_u32, 2, 4, 0], Some(1)) },
                output::<podrank_odds_scratch>("scratch", 4, Some(2)).each(1),
            ],
            lens: vec![7, 4, 4],
            numbers: vec![],
            call: |p, n, _| unsafe {
                podrank_upstream_sort(p[0].cast(), n[0], p[1].cast(), p[2].cast(), n[1], p[3].cast(), n[2])
            },
        },
    ]
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
