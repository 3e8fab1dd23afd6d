//! `odds`: the sort of a list against a naive one that sorts as Go does, and the odds against every list of a few pods and
//! against samples of more.

use crate::case::{Case, extended, shuffle};
use podrank::ffi::go_sort;
use podrank_laws::{Core, go_sort as naive, odds};

/// The target.
pub fn run(data: &[u8]) {
    numbers(data);
    let Case { policy, pods, k, distinct, salt } = Case::of(data, 0..=120);
    let mut list: Vec<u32> = (0..u32::try_from(pods.len()).expect("few")).collect();
    shuffle(&mut list, salt);
    odds::sorts_as_upstream(&Core, &policy, &pods, &list);
    for list in odds::patterned_lists(&policy, &pods) {
        odds::sorts_as_upstream(&Core, &policy, &pods, &list);
    }
    if pods.len() <= 5 {
        odds::odds_are_shares_of_all_lists(&Core, &policy, &pods, k);
    }
    // Samples take a while.
    if distinct && (pods.len() <= 12 || salt.is_multiple_of(16)) {
        odds::odds_add_up(&Core, &policy, &pods, k);
    }
    // Frequencies, too. Few pods take less, and show as well whether lists are shuffled uniformly.
    if distinct && salt.is_multiple_of(if pods.len() <= 8 { 4 } else { 64 }) {
        odds::odds_are_frequencies(&Core, &policy, &pods, k, salt);
    }
}

/// Sorts numbers by any relation, also by one that contradicts itself, so that the sort gives up on pivots.
fn numbers(data: &[u8]) {
    let bytes = extended(data, 300);
    let (table, rest) = bytes.split_at(8);
    let list = &rest[..usize::from(rest[0])];
    let less = |a: u8, b: u8| table[usize::from(a % 8)] >> (b % 8) & 1 == 1;
    for less in [&less as &dyn Fn(u8, u8) -> bool, &|_, _| true] {
        let (mut ours, mut plain) = (list.to_vec(), list.to_vec());
        go_sort(&mut ours, &less);
        naive::go_sort(&mut plain, &|a, b| less(*a, *b));
        assert_eq!(ours, plain, "{table:?} {list:?}");
    }
}
