//! The examples of previews, with random values in random places.

use arbitrary::{Result, Unstructured};
use podrank_predict::{Options, Order};
use serde_json::Value;
use std::sync::LazyLock;

static EXAMPLES: LazyLock<[Value; 4]> = LazyLock::new(|| {
    [
        include_str!("../../../predict/examples/rollout.json"),
        include_str!("../../../predict/examples/stateful-set.json"),
        include_str!("../../../predict/examples/daemon-set.json"),
        include_str!("../../../predict/examples/job.json"),
    ]
    .map(|text| serde_json::from_str(text).expect("JSON"))
});

/// One of them, and what to ask of it.
pub(super) fn changed(u: &mut Unstructured<'_>, options: &mut Options) -> Result<Vec<u8>> {
    let which = u.choose_index(EXAMPLES.len())?;
    options.now = super::now();
    options.order = Order::Kubernetes;
    options.namespace = None;
    let is_job = which == 3;
    if is_job {
        options.parallelism = options.replicas.filter(|_| which == 3);
        options.suspend = u.ratio(1, 8)?;
        options.completions = if u.ratio(1, 8)? { options.parallelism } else { None };
    }
    if is_job || which == 2 || u.ratio(1, 4)? {
        options.replicas = None;
    }
    let mut example = EXAMPLES[which].clone();
    for _ in 0..u.int_in_range(0..=6_u8)? {
        let value = value(u, &EXAMPLES[which])?;
        *place(u, &mut example)? = value;
    }
    Ok(example.to_string().into_bytes())
}

/// A place in the value.
fn place<'v>(u: &mut Unstructured<'_>, value: &'v mut Value) -> Result<&'v mut Value> {
    let len = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if len == 0 || u.ratio(1, 16)? {
        return Ok(value);
    }
    let index = u.choose_index(len)?;
    match value {
        Value::Array(items) => place(u, &mut items[index]),
        Value::Object(fields) => place(u, fields.values_mut().nth(index).expect("it is in range")),
        _ => unreachable!("it has parts"),
    }
}

const VALUES: &str = r#"[null, 0, 1, 3, -1, 2147483647, 9223372036854775807, 1.5, true, "", "0", "25%",
    "2026-03-10T11:59:59Z", [], {}]"#;

/// A value of the kinds that go wrong, or one from elsewhere in the example.
fn value(u: &mut Unstructured<'_>, example: &Value) -> Result<Value> {
    let values: Vec<Value> = serde_json::from_str(VALUES).expect("JSON");
    if u.ratio(1, 3)? { Ok(place(u, &mut example.clone())?.clone()) } else { Ok(u.choose(&values)?.clone()) }
}
