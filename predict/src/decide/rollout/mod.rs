//! Where the syncs of a Deployment lead.

pub(crate) mod end;
pub(crate) mod sample;
pub(crate) mod simulate;
