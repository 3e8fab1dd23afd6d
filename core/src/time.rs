//! Moments: signed nanoseconds since the Unix epoch, with one value kept for "unset".

/// A moment in signed nanoseconds since the Unix epoch, from 1677-09-21 to 2262-04-11, or unset.
///
/// Unset is Go's zero time, what Kubernetes has where a timestamp is missing, `null` or
/// `0001-01-01T00:00:00Z`. It is not the epoch. Moments outside the range saturate to
/// [`Time::MIN`] or [`Time::MAX`] and never become unset.
///
/// `Time` has no order of its own: which moment goes first is a matter of [`Policy`](crate::Policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Time(i64);

impl Time {
    /// No moment at all.
    pub const UNSET: Self = Self(i64::MIN);
    /// The earliest moment, 1677-09-21T00:12:43.145224193Z.
    pub const MIN: Self = Self(i64::MIN + 1);
    /// The latest moment, 2262-04-11T23:47:16.854775807Z.
    pub const MAX: Self = Self(i64::MAX);

    /// The moment `nanos` nanoseconds after the Unix epoch (before it, if negative).
    ///
    /// `i64::MIN`, one below the range, saturates to [`Time::MIN`].
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        if nanos == Self::UNSET.0 { Self::MIN } else { Self(nanos) }
    }

    /// The moment `seconds` and `nanos` nanoseconds after the Unix epoch, saturated to the range.
    pub const fn from_unix(seconds: i64, nanos: u32) -> Self {
        const SECOND: u32 = 1_000_000_000;
        let seconds = seconds.saturating_add((nanos / SECOND) as i64);
        let nanos = (nanos % SECOND) as i64;
        // Up to -1 s the nanoseconds are counted back from the next second, so that both parts have one
        // sign: no sum on the way to a moment inside the range leaves it, and none leads back into it.
        let (seconds, nanos) = if seconds < 0 {
            (seconds.saturating_add(1), nanos.saturating_sub(SECOND as i64))
        } else {
            (seconds, nanos)
        };
        Self::from_unix_nanos(seconds.saturating_mul(SECOND as i64).saturating_add(nanos))
    }

    /// Nanoseconds since the Unix epoch, or `None` if unset.
    pub const fn unix_nanos(self) -> Option<i64> {
        if self.is_unset() { None } else { Some(self.0) }
    }

    /// Whether this is [`Time::UNSET`].
    pub const fn is_unset(self) -> bool {
        self.0 == Self::UNSET.0
    }

    /// How long after `earlier` this is, in nanoseconds: negative if before, saturated, `None` if either is unset.
    pub(crate) fn nanos_since(self, earlier: Self) -> Option<i64> {
        Some(self.unix_nanos()?.saturating_sub(earlier.unix_nanos()?))
    }

    /// A number that is smaller the later the moment, and smallest of all for unset.
    pub(crate) const fn latest_first(self) -> u64 {
        // Unset is i64::MIN and becomes 0, the latest moment 1, the earliest 2^64 - 1.
        i64::MIN.wrapping_sub(self.0).cast_unsigned()
    }

    /// How the value is stored: nanoseconds, or `i64::MIN` for unset.
    pub(crate) const fn bits(self) -> i64 {
        self.0
    }
}

impl Default for Time {
    /// [`Time::UNSET`].
    fn default() -> Self {
        Self::UNSET
    }
}
