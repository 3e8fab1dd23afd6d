//! The statuses: their numbers, their texts, and the core's errors as statuses.

use core::ffi::{CStr, c_char};
use podrank::controller::KeysFull;
use podrank::{DeletionCostError, InvalidPod, TooManyPods, UidError, UnknownNode};

/// Done.
pub const PODRANK_OK: i32 = 0;
/// A pointer is NULL where its length is not 0.
pub const PODRANK_ERR_NULL: i32 = 1;
/// A pointer is not aligned for what it points to.
pub const PODRANK_ERR_MISALIGNED: i32 = 2;
/// A buffer that is written overlaps another.
pub const PODRANK_ERR_OVERLAP: i32 = 3;
/// A length is above UINT32_MAX, or the buffer does not fit the address space.
pub const PODRANK_ERR_TOO_LONG: i32 = 4;
/// The options' size is one this library does not know, and more than zeros stand beyond what it knows.
pub const PODRANK_ERR_OPTIONS_SIZE: i32 = 5;
/// The options' flags have a bit without meaning.
pub const PODRANK_ERR_OPTIONS_FLAGS: i32 = 6;
/// A record's phase is none of the PODRANK_PHASE_ values.
pub const PODRANK_ERR_PHASE: i32 = 7;
/// A record's flags have a bit without meaning.
pub const PODRANK_ERR_FLAGS: i32 = 8;
/// A record's reserved bytes are not all zero.
pub const PODRANK_ERR_RESERVED: i32 = 9;
/// An assigned pod's node number is not below the number of counts.
pub const PODRANK_ERR_NODE: i32 = 10;
/// The table has no room for another node name.
pub const PODRANK_ERR_NODES_FULL: i32 = 11;
/// The node name is empty: a pod without a node is not assigned.
pub const PODRANK_ERR_NODE_NAME: i32 = 12;
/// The phase is Succeeded or Failed: such a pod is not active and never ranked.
pub const PODRANK_ERR_INACTIVE: i32 = 13;
/// The UID's text is not 36 bytes long.
pub const PODRANK_ERR_UID_LENGTH: i32 = 14;
/// The UID's text has no hyphen where one belongs.
pub const PODRANK_ERR_UID_HYPHEN: i32 = 15;
/// The UID's text has a byte that is none of 0-9 and a-f.
pub const PODRANK_ERR_UID_DIGIT: i32 = 16;
/// The deletion cost's text is empty.
pub const PODRANK_ERR_COST_EMPTY: i32 = 17;
/// The deletion cost's text starts with '+'.
pub const PODRANK_ERR_COST_PLUS: i32 = 18;
/// The deletion cost's text has a leading zero.
pub const PODRANK_ERR_COST_ZERO: i32 = 19;
/// The deletion cost's text is '-' alone.
pub const PODRANK_ERR_COST_NO_DIGITS: i32 = 20;
/// The deletion cost's text has a byte that is not a digit.
pub const PODRANK_ERR_COST_DIGIT: i32 = 21;
/// The deletion cost is outside -2147483648 to 2147483647.
pub const PODRANK_ERR_COST_RANGE: i32 = 22;
/// There are more keys than the room has places.
pub const PODRANK_ERR_KEYS_FULL: i32 = 23;
/// The percentage's text does not end with '%': a number of pods is an integer, not a text.
pub const PODRANK_ERR_PERCENT_SIGN: i32 = 40;
/// The percentage's text has no digits before '%'.
pub const PODRANK_ERR_PERCENT_NO_DIGITS: i32 = 41;
/// The percentage's text has a byte before '%' that is not a digit.
pub const PODRANK_ERR_PERCENT_DIGIT: i32 = 42;
/// The percentage is above PODRANK_PERCENT_MAX.
pub const PODRANK_ERR_PERCENT_RANGE: i32 = 43;
/// A number of replicas or of pods is negative.
pub const PODRANK_ERR_NEGATIVE: i32 = 44;

/// What a function found, on its way to becoming a status.
pub(crate) struct Error(pub(crate) i32);

/// The status of a function's work.
pub(crate) fn status(result: Result<(), Error>) -> i32 {
    result.map_or_else(|error| error.0, |()| PODRANK_OK)
}

/// The status of work done now.
pub(crate) fn run(work: impl FnOnce() -> Result<(), Error>) -> i32 {
    status(work())
}

/// The text of a status, in English, without a full stop; "unknown status" of any other number. The text is
/// static: never free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_status_str(status: i32) -> *const c_char {
    let text: &CStr = match status {
        PODRANK_OK => c"done",
        PODRANK_ERR_NULL => c"a pointer is NULL where its length is not 0",
        PODRANK_ERR_MISALIGNED => c"a pointer is misaligned",
        PODRANK_ERR_OVERLAP => c"a buffer that is written overlaps another",
        PODRANK_ERR_TOO_LONG => c"a length is above 4294967295",
        PODRANK_ERR_OPTIONS_SIZE => c"the options have an unknown size",
        PODRANK_ERR_OPTIONS_FLAGS => c"the options have an unknown flag",
        PODRANK_ERR_PHASE => c"a record has an unknown phase",
        PODRANK_ERR_FLAGS => c"a record has an unknown flag",
        PODRANK_ERR_RESERVED => c"a record has a reserved byte that is not zero",
        PODRANK_ERR_NODE => c"a node number is not below the number of counts",
        PODRANK_ERR_NODES_FULL => c"the table has no room for another node name",
        PODRANK_ERR_NODE_NAME => c"a node name is empty",
        PODRANK_ERR_INACTIVE => c"the pod is not active",
        PODRANK_ERR_UID_LENGTH => c"the UID is not 36 bytes long",
        PODRANK_ERR_UID_HYPHEN => c"the UID has no hyphen where one belongs",
        PODRANK_ERR_UID_DIGIT => c"the UID has a byte that is none of 0-9 and a-f",
        PODRANK_ERR_COST_EMPTY => c"the deletion cost is empty",
        PODRANK_ERR_COST_PLUS => c"the deletion cost starts with '+'",
        PODRANK_ERR_COST_ZERO => c"the deletion cost has a leading zero",
        PODRANK_ERR_COST_NO_DIGITS => c"the deletion cost has no digits",
        PODRANK_ERR_COST_DIGIT => c"the deletion cost has a byte that is not a digit",
        PODRANK_ERR_COST_RANGE => c"the deletion cost is outside -2147483648 to 2147483647",
        PODRANK_ERR_KEYS_FULL => c"there are more keys than the room has places",
        PODRANK_ERR_PERCENT_SIGN => c"the percentage does not end with '%'",
        PODRANK_ERR_PERCENT_NO_DIGITS => c"the percentage has no digits",
        PODRANK_ERR_PERCENT_DIGIT => c"the percentage has a byte that is not a digit",
        PODRANK_ERR_PERCENT_RANGE => c"the percentage is above 4194304",
        PODRANK_ERR_NEGATIVE => c"a number of replicas is negative",
        _ => c"unknown status",
    };
    text.as_ptr()
}

impl From<InvalidPod> for Error {
    fn from(invalid: InvalidPod) -> Self {
        Self(match invalid {
            InvalidPod::UnknownPhase(_) => PODRANK_ERR_PHASE,
            InvalidPod::UnknownFlags(_) => PODRANK_ERR_FLAGS,
            _ => PODRANK_ERR_RESERVED,
        })
    }
}

impl From<TooManyPods> for Error {
    fn from(_: TooManyPods) -> Self {
        Self(PODRANK_ERR_TOO_LONG)
    }
}

impl From<KeysFull> for Error {
    fn from(_: KeysFull) -> Self {
        Self(PODRANK_ERR_KEYS_FULL)
    }
}

impl From<UnknownNode> for Error {
    fn from(_: UnknownNode) -> Self {
        Self(PODRANK_ERR_NODE)
    }
}

impl From<UidError> for Error {
    fn from(error: UidError) -> Self {
        Self(match error {
            UidError::Length(_) => PODRANK_ERR_UID_LENGTH,
            UidError::NotHyphen(_) => PODRANK_ERR_UID_HYPHEN,
            _ => PODRANK_ERR_UID_DIGIT,
        })
    }
}

impl From<DeletionCostError> for Error {
    fn from(error: DeletionCostError) -> Self {
        Self(match error {
            DeletionCostError::Empty => PODRANK_ERR_COST_EMPTY,
            DeletionCostError::LeadingPlus => PODRANK_ERR_COST_PLUS,
            DeletionCostError::LeadingZero => PODRANK_ERR_COST_ZERO,
            DeletionCostError::NoDigits => PODRANK_ERR_COST_NO_DIGITS,
            DeletionCostError::NotDigit(_) => PODRANK_ERR_COST_DIGIT,
            _ => PODRANK_ERR_COST_RANGE,
        })
    }
}
