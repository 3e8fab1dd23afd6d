//! Times: signed nanoseconds since the Unix epoch, with one value reserved for "unset".

/// A time in signed nanoseconds since the Unix epoch, from 1677-09-21 to 2262-04-11, or unset.
///
/// Kubernetes writes a missing timestamp as Go's zero time, 0001-01-01T00:00:00Z. Here it is [`Time::UNSET`],
/// which is distinct from the epoch. Any other time outside the range saturates to [`Time::MIN`] or
/// [`Time::MAX`].
///
/// `Time` has no order of its own: [`Policy`](crate::Policy) decides which time comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Time(i64);

impl Time {
    /// An unset time, distinct from the epoch.
    pub const UNSET: Self = Self(i64::MIN);
    /// The earliest time, 1677-09-21T00:12:43.145224193Z.
    pub const MIN: Self = Self(i64::MIN + 1);
    /// The latest time, 2262-04-11T23:47:16.854775807Z.
    pub const MAX: Self = Self(i64::MAX);

    /// Returns the time `nanos` nanoseconds after the Unix epoch, or before it if `nanos` is negative.
    ///
    /// `i64::MIN`, one below the range, saturates to [`Time::MIN`].
    #[must_use]
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        if nanos == Self::UNSET.0 { Self::MIN } else { Self(nanos) }
    }

    /// Returns the time `seconds` and `nanos` nanoseconds after the Unix epoch, saturated to the range.
    ///
    /// Go's zero time, 0001-01-01T00:00:00Z (-62135596800 seconds), is [`Time::UNSET`]. That instant alone is
    /// unset.
    #[must_use]
    pub const fn from_unix(seconds: i64, nanos: u32) -> Self {
        const SECOND: u32 = 1_000_000_000;
        const GO_ZERO: i64 = -62_135_596_800;
        let seconds = seconds.saturating_add((nanos / SECOND) as i64);
        let nanos = (nanos % SECOND) as i64;
        if seconds == GO_ZERO && nanos == 0 {
            return Self::UNSET;
        }
        // For negative seconds, counts the nanoseconds back from the next second, so that both parts have one
        // sign: then no intermediate sum leaves the range unless the result does.
        let (seconds, nanos) = if seconds < 0 {
            (seconds.saturating_add(1), nanos.saturating_sub(SECOND as i64))
        } else {
            (seconds, nanos)
        };
        Self::from_unix_nanos(seconds.saturating_mul(SECOND as i64).saturating_add(nanos))
    }

    /// Returns the nanoseconds since the Unix epoch, or `None` if the time is unset.
    #[must_use]
    pub const fn unix_nanos(self) -> Option<i64> {
        if self.is_unset() { None } else { Some(self.0) }
    }

    /// Returns whether this is [`Time::UNSET`].
    #[must_use]
    pub const fn is_unset(self) -> bool {
        self.0 == Self::UNSET.0
    }

    /// Returns the nanoseconds from `earlier` to this time: negative if this is before it, saturated, and
    /// `None` if either is unset.
    pub(crate) fn nanos_since(self, earlier: Self) -> Option<i64> {
        Some(self.unix_nanos()?.saturating_sub(earlier.unix_nanos()?))
    }

    /// Returns a number that is smaller the later the time, and smallest of all for unset.
    pub(crate) const fn latest_first(self) -> u64 {
        // Unset is i64::MIN and becomes 0, the latest time 1, the earliest 2^64 - 1.
        i64::MIN.wrapping_sub(self.0).cast_unsigned()
    }

    /// Returns the stored value: nanoseconds, or `i64::MIN` if unset.
    pub(crate) const fn bits(self) -> i64 {
        self.0
    }
}

impl Default for Time {
    /// Returns [`Time::UNSET`].
    fn default() -> Self {
        Self::UNSET
    }
}
