//! Plans of scale-downs: which errors there are, what each preference does, and what is written.

mod budgets;
mod differences;
pub(crate) mod dump;
mod leaders;
mod others;
mod owners;
mod preferences;
mod refusals;
mod rollouts;
mod writes;
