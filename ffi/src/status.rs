//! The statuses: their numbers and texts, and the status of each error of the core.

use core::ffi::{CStr, c_char};
#[cfg(feature = "controller")]
use podrank::controller::KeysFull;
use podrank::{DeletionCostError, InvalidPod, UidError};

/// Success.
pub const PODRANK_OK: i32 = 0;
/// A pointer is NULL that must not be: see promise 3.
pub const PODRANK_ERR_NULL: i32 = 1;
/// A pointer is not aligned for its type.
pub const PODRANK_ERR_MISALIGNED: i32 = 2;
/// A buffer that the function writes overlaps another buffer.
pub const PODRANK_ERR_OVERLAP: i32 = 3;
/// A length is above UINT32_MAX, or the buffer does not fit the address space.
pub const PODRANK_ERR_TOO_LONG: i32 = 4;
/// The options' size is smaller than podrank_options has been in any release (0, for instance), or above
/// PODRANK_OPTIONS_SIZE_MAX, or a byte beyond the length that this library knows is not zero. Start from
/// PODRANK_OPTIONS_INIT or PODRANK_OPTIONS_AT.
pub const PODRANK_ERR_OPTIONS_SIZE: i32 = 5;
/// The options' flags have a bit that this library does not know.
pub const PODRANK_ERR_OPTIONS_FLAGS: i32 = 6;
/// A record's phase is not a PODRANK_PHASE_ value.
pub const PODRANK_ERR_PHASE: i32 = 7;
/// A record, or the state of podrank_plan, has a flag that this library does not know.
pub const PODRANK_ERR_FLAGS: i32 = 8;
/// A record's reserved bytes are not all zero.
pub const PODRANK_ERR_RESERVED: i32 = 9;
/// An assigned pod's node is not below counts_len, or weights_len in podrank/steer.h.
pub const PODRANK_ERR_NODE: i32 = 10;
/// The node name is new, and the table has no free slot.
pub const PODRANK_ERR_NODES_FULL: i32 = 11;
/// The node name is empty. A pod without a node is not assigned and needs no number.
pub const PODRANK_ERR_NODE_NAME: i32 = 12;
/// The phase is Succeeded or Failed. Such a pod is not active: leave it out.
pub const PODRANK_ERR_INACTIVE: i32 = 13;
/// The UID's text is not 36 bytes long.
pub const PODRANK_ERR_UID_LENGTH: i32 = 14;
/// The UID's text lacks a hyphen at offset 8, 13, 18 or 23.
pub const PODRANK_ERR_UID_HYPHEN: i32 = 15;
/// The UID's text has a byte other than 0-9 and a-f where it needs a digit. Upper case is rejected, too.
pub const PODRANK_ERR_UID_DIGIT: i32 = 16;
/// The deletion cost's text is empty.
pub const PODRANK_ERR_COST_EMPTY: i32 = 17;
/// The deletion cost's text starts with '+'.
pub const PODRANK_ERR_COST_PLUS: i32 = 18;
/// The deletion cost's text starts with '0' and has more bytes.
pub const PODRANK_ERR_COST_ZERO: i32 = 19;
/// The deletion cost's text is only '-'.
pub const PODRANK_ERR_COST_NO_DIGITS: i32 = 20;
/// The deletion cost's text has a byte that is not a digit.
pub const PODRANK_ERR_COST_DIGIT: i32 = 21;
/// The deletion cost is outside -2147483648 to 2147483647.
pub const PODRANK_ERR_COST_RANGE: i32 = 22;
/// There are more keys than key_storage_len: see podrank_expectations_expect_deletions in podrank/controller.h.
pub const PODRANK_ERR_KEYS_FULL: i32 = 23;
/// The options' now is not 0, but their flags lack PODRANK_OPTIONS_NOW; or the flag is set, and now is PODRANK_TIME_UNSET.
/// Start from PODRANK_OPTIONS_AT.
pub const PODRANK_ERR_OPTIONS_NOW: i32 = 24;
/// A buffer is shorter than the function's description demands.
pub const PODRANK_ERR_SHORT_BUFFER: i32 = 25;
/// The fixed deletion costs leave no room for the tiers: see podrank_steer.
pub const PODRANK_ERR_NO_ROOM: i32 = 26;
/// The feature gate PodDeletionCost is off, so deletion costs have no effect.
pub const PODRANK_ERR_GATE: i32 = 27;
/// A pod's node has no domain (a group of nodes, such as a zone) on some level, or a domain number that is too large: see
/// podrank_empty_nodes in podrank/steer.h.
pub const PODRANK_ERR_DOMAIN: i32 = 28;
/// The pods would need more than 65,536 tiers.
pub const PODRANK_ERR_TIERS: i32 = 29;

/// Why a function fails, as a status.
pub(crate) struct Error(pub(crate) i32);

/// Returns the status of a result.
pub(crate) fn status(result: Result<(), Error>) -> i32 {
    result.map_or_else(|error| error.0, |()| PODRANK_OK)
}

/// Does a function's work and returns the status.
pub(crate) fn run(work: impl FnOnce() -> Result<(), Error>) -> i32 {
    status(work())
}

/// Returns the text of a status, in English, without a full stop, or "unknown status" for any other number.
/// The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn podrank_status_str(status: i32) -> *const c_char {
    let text: &CStr = match status {
        PODRANK_OK => c"success",
        PODRANK_ERR_NULL => c"a pointer is NULL that must not be",
        PODRANK_ERR_MISALIGNED => c"a pointer is not aligned for its type",
        PODRANK_ERR_OVERLAP => c"a buffer that the function writes overlaps another buffer",
        PODRANK_ERR_TOO_LONG => c"a length is above 4294967295, or the buffer exceeds the address space",
        PODRANK_ERR_OPTIONS_SIZE => c"the options have an unknown size, or an unknown byte is not zero",
        PODRANK_ERR_OPTIONS_FLAGS => c"the options have an unknown flag",
        PODRANK_ERR_PHASE => c"a record has an unknown phase",
        PODRANK_ERR_FLAGS => c"a record or a state has an unknown flag",
        PODRANK_ERR_RESERVED => c"a record has a reserved byte that is not zero",
        PODRANK_ERR_NODE => c"a pod's node number is too large",
        PODRANK_ERR_NODES_FULL => c"the node name is new, and the table has no free slot",
        PODRANK_ERR_NODE_NAME => c"the node name is empty",
        PODRANK_ERR_INACTIVE => c"the phase is Succeeded or Failed: the pod is not active",
        PODRANK_ERR_UID_LENGTH => c"the UID is not 36 bytes long",
        PODRANK_ERR_UID_HYPHEN => c"the UID lacks a hyphen at offset 8, 13, 18 or 23",
        PODRANK_ERR_UID_DIGIT => c"the UID has a byte other than 0-9 and a-f",
        PODRANK_ERR_COST_EMPTY => c"the deletion cost is empty",
        PODRANK_ERR_COST_PLUS => c"the deletion cost starts with '+'",
        PODRANK_ERR_COST_ZERO => c"the deletion cost starts with 0 and has more bytes",
        PODRANK_ERR_COST_NO_DIGITS => c"the deletion cost has no digits",
        PODRANK_ERR_COST_DIGIT => c"the deletion cost has a byte that is not a digit",
        PODRANK_ERR_COST_RANGE => c"the deletion cost is outside -2147483648 to 2147483647",
        PODRANK_ERR_KEYS_FULL => c"there are more keys than the capacity",
        PODRANK_ERR_OPTIONS_NOW => {
            c"the options have a now without the flag PODRANK_OPTIONS_NOW, or the flag without a now"
        }
        PODRANK_ERR_SHORT_BUFFER => c"a buffer is shorter than the function needs",
        PODRANK_ERR_NO_ROOM => c"the fixed deletion costs leave no room for the tiers",
        PODRANK_ERR_GATE => c"the feature gate PodDeletionCost is off",
        PODRANK_ERR_DOMAIN => c"a node has no domain that has a count",
        PODRANK_ERR_TIERS => c"the pods would need more than 65536 tiers",
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

impl From<podrank::Error> for Error {
    fn from(error: podrank::Error) -> Self {
        Self(match error {
            podrank::Error::ShortBuffer { .. } => PODRANK_ERR_SHORT_BUFFER,
            podrank::Error::UnknownNode { .. } => PODRANK_ERR_NODE,
            podrank::Error::UnknownDomain { .. } => PODRANK_ERR_DOMAIN,
            podrank::Error::TooManyTiers => PODRANK_ERR_TIERS,
            podrank::Error::GateOff => PODRANK_ERR_GATE,
            podrank::Error::NoRoom { .. } => PODRANK_ERR_NO_ROOM,
            _ => PODRANK_ERR_TOO_LONG,
        })
    }
}

#[cfg(feature = "controller")]
impl From<KeysFull> for Error {
    fn from(_: KeysFull) -> Self {
        Self(PODRANK_ERR_KEYS_FULL)
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
