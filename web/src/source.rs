//! Where the bytes of a dump come from: the page's worker, which reads a file piece by piece. So the file is never in memory as a whole.

use std::io::{self, Read};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// An object with a method `next`, which returns the next bytes. None are left if it returns nothing.
    pub type Chunks;

    #[wasm_bindgen(method)]
    fn next(this: &Chunks) -> Option<Vec<u8>>;
}

pub(crate) struct Reader {
    chunks: Chunks,
    chunk: Vec<u8>,
    /// How much of the chunk was taken.
    taken: usize,
}

impl Reader {
    pub(crate) fn new(chunks: Chunks) -> Self {
        Self { chunks, chunk: Vec::new(), taken: 0 }
    }
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.chunk.len() {
            (self.chunk, self.taken) = (self.chunks.next().unwrap_or_default(), 0);
        }
        let count = into.len().min(self.chunk.len() - self.taken);
        into[..count].copy_from_slice(&self.chunk[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}
