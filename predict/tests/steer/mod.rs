//! Plans of scale-downs: which errors there are, what each wish does, and what is written.

mod budgets;
mod differences;
pub(crate) mod dump;
mod leaders;
mod others;
mod owners;
mod refusals;
mod rollouts;
mod wishes;
mod writes;
