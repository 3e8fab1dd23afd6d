//! Plans of scale-downs: what is refused and with which words, what each wish does, and what is written.

mod dump;
mod refusals;
mod wishes;
mod writes;
