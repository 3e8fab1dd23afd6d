//! `podrank-web-bindgen MODULE DIRECTORY`: writes podrank_web.js and podrank_web_bg.wasm into the directory.

use std::env;
use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [module, directory] = &*arguments else { panic!("expected MODULE DIRECTORY, not {arguments:?}") };
    let mut bindgen = Bindgen::new();
    let bindgen = bindgen.input_path(module).web(true).expect("one kind of output").typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(directory).unwrap_or_else(|error| panic!("{module}: {error:?}"));
}
