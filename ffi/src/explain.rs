//! The rules, and what each of them says about two pods.

use crate::memory::{Output, apart};
use crate::options::podrank_options;
use crate::question::Question;
use crate::record::podrank_pod;
use crate::status::run;
use core::ffi::c_char;
use podrank::ffi::rule_name;
use podrank::{Row, Rule, ValueKind};

/// No rule. The rules follow in the order in which they apply. A rule's number never changes. Rules that
/// later releases add get numbers in between. In the row of a rule that you do not know, applies, decides and ordering mean the
/// same, and podrank_rule_str names the rule. Do not interpret a and b of a kind that you do not know.
pub const PODRANK_RULE_NONE: u8 = 0;
/// Unassigned before assigned.
pub const PODRANK_RULE_UNASSIGNED: u8 = 10;
/// Pending before unknown before running.
pub const PODRANK_RULE_PHASE: u8 = 20;
/// Not ready before ready.
pub const PODRANK_RULE_NOT_READY: u8 = 30;
/// Lower tier before higher.
pub const PODRANK_RULE_TIER: u8 = 35;
/// Lower deletion cost before higher.
pub const PODRANK_RULE_DELETION_COST: u8 = 40;
/// Higher rank before lower.
pub const PODRANK_RULE_RANK: u8 = 50;
/// Preferred before not preferred. Off unless PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON.
pub const PODRANK_RULE_PREFERRED: u8 = 60;
/// Among ready pods: an unset ready time before any other, then ready for a shorter time before longer.
pub const PODRANK_RULE_READY_TIME: u8 = 70;
/// More restarts before fewer.
pub const PODRANK_RULE_RESTARTS: u8 = 80;
/// More sidecar restarts before fewer.
pub const PODRANK_RULE_SIDECAR_RESTARTS: u8 = 85;
/// An unset creation time before any other, then younger before older.
pub const PODRANK_RULE_CREATION_TIME: u8 = 90;
/// Smaller UID before larger.
pub const PODRANK_RULE_UID: u8 = 100;

/// Returns the name of a rule, such as "deletion-cost", or NULL for PODRANK_RULE_NONE and any other number.
/// The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_rule_str(rule: u8) -> *const c_char {
    Rule::from_number(rule).map_or(core::ptr::null(), |rule| rule_name(rule).as_ptr())
}

/// The most rows that podrank_explain writes, in any library with this ABI.
pub const PODRANK_ROW_MAX: usize = 16;

/// What one rule says about two pods a and b.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct podrank_row {
    /// The value that the rule reads from pod a. kind says what it is.
    pub a: i64,
    /// The value that the rule reads from pod b.
    pub b: i64,
    /// PODRANK_RULE_...
    pub rule: u8,
    /// 1 if the rule applies: its gate is on and, for PODRANK_RULE_READY_TIME, both pods are ready. Otherwise
    /// 0.
    pub applies: u8,
    /// 1 in the row of the rule that decides: the first whose ordering is not 0. Otherwise 0.
    pub decides: u8,
    /// PODRANK_ROW_KIND_...
    pub kind: u8,
    /// -1 if a is deleted first by this rule alone, 1 if b is, 0 if it ties or does not apply.
    pub ordering: i32,
}

/// In podrank_row, a and b say whether each of the two pods is assigned (in the row of
/// PODRANK_RULE_UNASSIGNED), ready (PODRANK_RULE_NOT_READY) or preferred (PODRANK_RULE_PREFERRED): 1 if so,
/// and otherwise 0.
pub const PODRANK_ROW_KIND_BOOL: u8 = 1;
/// a and b are PODRANK_PHASE_ values.
pub const PODRANK_ROW_KIND_PHASE: u8 = 2;
/// a and b are plain numbers.
pub const PODRANK_ROW_KIND_NUMBER: u8 = 3;
/// a and b are nanoseconds of the clock of the pods' times, or PODRANK_TIME_UNSET.
pub const PODRANK_ROW_KIND_TIME: u8 = 4;
/// a and b are age buckets: the base-2 logarithm of the age in nanoseconds, rounded down, from 0 to 62. -1
/// for a time that is not before now, and PODRANK_TIME_UNSET for an unset time.
pub const PODRANK_ROW_KIND_AGE_BUCKET: u8 = 5;
/// a and b are 0, because UIDs do not fit. Read them from the pods.
pub const PODRANK_ROW_KIND_UID: u8 = 6;

const _: () = {
    assert!(Rule::ALL.len() <= PODRANK_ROW_MAX);
    assert!(ValueKind::Bool as u8 == PODRANK_ROW_KIND_BOOL);
    assert!(ValueKind::Phase as u8 == PODRANK_ROW_KIND_PHASE);
    assert!(ValueKind::Number as u8 == PODRANK_ROW_KIND_NUMBER);
    assert!(ValueKind::Time as u8 == PODRANK_ROW_KIND_TIME);
    assert!(ValueKind::AgeBucket as u8 == PODRANK_ROW_KIND_AGE_BUCKET);
    assert!(ValueKind::Uid as u8 == PODRANK_ROW_KIND_UID);
};

impl From<&Row> for podrank_row {
    fn from(row: &Row) -> Self {
        Self {
            a: row.a,
            b: row.b,
            rule: row.rule.number(),
            applies: row.applies.into(),
            decides: row.decides.into(),
            kind: row.kind as u8,
            ordering: row.ordering as i32,
        }
    }
}

/// Explains a comparison: writes to rows what each rule says about the two pods, in rule order, whether it
/// applies or not. Stores the number of rows in *count. If rows_len is below PODRANK_ROW_MAX: PODRANK_ERR_SHORT_BUFFER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn podrank_explain(
    a: *const podrank_pod,
    b: *const podrank_pod,
    options: *const podrank_options,
    rows: *mut podrank_row,
    rows_len: usize,
    count: *mut usize,
) -> i32 {
    run(|| {
        let (rows, count) = (Output::new(rows, rows_len)?, Output::one(count)?);
        // SAFETY: promised in the header.
        let Question { a, b, policy, spans } = unsafe { Question::read(a, b, options) }?;
        apart(&[rows.span(), count.span()], &spans)?;
        rows.needs(PODRANK_ROW_MAX)?;
        let explanation = policy.explain(a, b);
        // SAFETY: checked above; the rest is promised in the header.
        unsafe {
            rows.write(explanation.rows().iter().map(podrank_row::from));
            count.set(explanation.rows().len());
        }
        Ok(())
    })
}
