//! All pairs of pods, by reduction: see `podrank_laws::exhaustive` for why these are all.

use podrank_laws::{Core, exhaustive};

#[test]
fn each_field_by_its_boundaries() {
    exhaustive::each_field(&Core);
}

#[test]
fn each_vector_of_answers() {
    exhaustive::each_vector(&Core);
}
