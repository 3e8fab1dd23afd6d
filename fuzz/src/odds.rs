//! `odds`: the sort of a list against a naive one that sorts as Go does, and the odds against every list of a few pods and
//! against samples of more.

use crate::case::{Case, shuffle};
use arbitrary::{Result, Unstructured};
use podrank::ffi::go_sort;
use podrank_laws::generate::random;
use podrank_laws::{Core, go_sort as naive, odds};

/// The target.
pub fn run(data: &[u8]) {
    run_with(&mut Unstructured::new(data)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    if u.arbitrary()? {
        numbers(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
        return Ok(());
    }
    let Case { policy, pods, k, distinct, salt } = Case::read(u, 0..=120)?;
    let mut list: Vec<u32> = (0..u32::try_from(pods.len()).expect("few")).collect();
    shuffle(&mut list, salt);
    odds::sorts_as_upstream(&Core, &policy, &pods, &list);
    for list in odds::patterned_lists(&policy, &pods) {
        odds::sorts_as_upstream(&Core, &policy, &pods, &list);
    }
    if pods.len() <= 5 {
        odds::odds_are_shares_of_all_lists(&Core, &policy, &pods, k);
    }
    // Samples take a while. A short input, whose salt is 0, is checked without.
    if distinct && (pods.len() <= 12 || salt % 16 == 1) {
        odds::odds_add_up(&Core, &policy, &pods, k);
    }
    // Frequencies, too. Few pods take less, and show as well whether lists are shuffled uniformly. Of fewer than 8, no
    // lists are sampled.
    if distinct && pods.len() >= 8 && salt % (if pods.len() <= 12 { 2 } else { 64 }) == 1 {
        odds::odds_are_frequencies(&Core, &policy, &pods, k, salt);
    }
    Ok(())
}

/// Sorts numbers by any relation, also by one that contradicts itself, so that the sort gives up on pivots.
fn numbers(table: [u8; 8], len: u8, seed: u16) {
    let mut random = random(seed.into());
    let list: Vec<u8> = (0..len).map(|_| random(8).to_le_bytes()[0]).collect();
    let less = |a: u8, b: u8| table[usize::from(a % 8)] >> (b % 8) & 1 == 1;
    for less in [&less as &dyn Fn(u8, u8) -> bool, &|_, _| true] {
        let (mut ours, mut plain) = (list.clone(), list.clone());
        go_sort(&mut ours, &less);
        naive::go_sort(&mut plain, &|a, b| less(*a, *b));
        assert_eq!(ours, plain, "{table:?} {list:?}");
    }
}
