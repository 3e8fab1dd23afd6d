//! Quantities, such as `500m` or `1Gi`, by their value.

/// Returns the value in billionths, the finest that Kubernetes has: a finer value is rounded away from zero, and a value out
/// of range becomes the nearest bound. `None` if the text is not a quantity, or has more digits than anyone writes.
pub(crate) fn billionths(text: &str) -> Option<i128> {
    // Kubernetes' own bound: an int64 of whole units.
    const MOST: i128 = i64::MAX as i128 * 1_000_000_000;
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = unsigned.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // The value is digits × 2^binary × 10^decimal billionths.
    let digits: i128 = [whole, fraction].concat().parse().ok()?;
    let (binary, decimal) = exponents(suffix)?;
    let decimal = decimal.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_i128.checked_pow(decimal.unsigned_abs());
    let scaled = digits.checked_mul(1 << binary);
    let value = match (scaled, power) {
        _ if digits == 0 => 0,
        (Some(scaled), Some(power)) if decimal >= 0 => scaled.checked_mul(power).unwrap_or(MOST),
        (Some(scaled), Some(power)) => scaled / power + i128::from(scaled % power != 0),
        (Some(_), None) if decimal < 0 => 1,
        _ => MOST,
    };
    Some(if text.starts_with('-') { -value.min(MOST) } else { value.min(MOST) })
}

/// The powers of 2 and of 10 that a suffix stands for.
fn exponents(suffix: &str) -> Option<(u32, i32)> {
    let decimal = (-9..).step_by(3).zip(["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]);
    let binary = (10..).step_by(10).zip(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]);
    let known = decimal.map(|(power, name)| (name, (0, power)));
    let mut known = known.chain(binary.map(|(power, name)| (name, (power, 0))));
    let scientific = || Some((0, suffix.strip_prefix(['e', 'E'])?.parse().ok()?));
    known.find(|(name, _)| *name == suffix).map(|(_, powers)| powers).or_else(scientific)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_quantities_have_one_value() {
        for equal in [
            "1 1000m 1.0 1.0000000000 +1 1e0 1000000u 1000000000n 01 0.001k",
            "1Gi 1024Mi 1073741824 1073741824000m 1.073741824G 1073741824e0",
            "0 0m 0Gi -0 0.0 .0 0. 0e-99 0e99",
            "100m 0.1 .1 100e-3 1E-1",
            "1n 0.1n 0.0000000001 0.0000000000001Ki 1e-99",
            "-1n -0.1n",
            "9223372036854775807 8Ei 9223372036854775808 1e40 100000000000000000000 1E100",
            "1E 1000P 1000000T 1e18",
            "1T 1000G 1000000M 1e12",
            "1Pi 1024Ti 1048576Gi",
            "0.5Ki 512",
        ] {
            let values: Vec<_> = equal.split(' ').map(billionths).collect();
            assert!(
                values[0].is_some() && values.iter().all(|value| *value == values[0]),
                "{equal}: {values:?}"
            );
        }
        assert_eq!(billionths("1.5Ki"), Some(1_536_000_000_000));
        assert_eq!(billionths("-2"), Some(-2_000_000_000));
    }

    #[test]
    fn other_texts_are_no_quantities() {
        for text in ["", "-", "m", "Gi", ".", "1.1.1", "1 Gi", "1gi", "1K", "1e", "1ee1", "1.5Gb", "--1", "é"]
        {
            assert_eq!(billionths(text), None, "{text}");
        }
    }
}
