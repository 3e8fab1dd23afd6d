//! Reads files, folders and standard input, all of them as one input.

use crate::progress::read_all;
use jiff::Timestamp;
use podrank_predict::{Error, Snapshot};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// What names standard input in place of a file.
pub(crate) const STDIN: &str = "-";

/// The ends of the names of the files that are read of a folder: those that kubectl reads.
const ENDS: [&str; 3] = ["json", "yaml", "yml"];

/// An input, and the files that it came from.
pub(crate) struct Read {
    pub(crate) input: Snapshot,
    /// When the newest file was modified. `None` for standard input.
    pub(crate) modified: Option<Timestamp>,
    /// That files of a folder could not be read, a note each.
    pub(crate) unread: Vec<String>,
}

/// Reads them. A file of a folder that is not readable is left out.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Read, Error> {
    let (mut parts, mut modified, mut unread) = (Vec::new(), None, Vec::new());
    let mut first = None;
    for path in paths {
        let is_folder = path.is_dir();
        for file in if is_folder { files_in(path)? } else { vec![path.clone()] } {
            match read_file(&file).map_err(|error| error.at(shown(&file))) {
                Ok((part, time)) => {
                    parts.extend(part);
                    modified = modified.max(time);
                }
                Err(error) if is_folder => {
                    unread.push(format!("note: a file is left out: {}", error.in_one_line()));
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
    }
    match first {
        Some(error) if parts.is_empty() => Err(error),
        _ => {
            let input = Snapshot::of_parts(parts).map_err(|error| error.at(place(paths)))?;
            Ok(Read { input, modified, unread })
        }
    }
}

/// The files in a folder and in the folders in it, by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error: io::Error| Error::new(error.to_string()).at(shown(folder));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // A link to a folder may lead back to this one.
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            files.extend(files_in(&path)?);
        } else if path.extension().is_some_and(|end| ENDS.iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What an error says was read.
pub(crate) fn place(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
}

/// What an error calls it.
pub(crate) fn shown(path: &Path) -> String {
    if path == STDIN { "standard input".to_owned() } else { path.to_string_lossy().into_owned() }
}

/// Reads a file or standard input, and the modification time if it is a file. An empty one has no part.
fn read_file(path: &Path) -> Result<(Option<Snapshot>, Option<Timestamp>), Error> {
    let (text, modified) = bytes_of(path).map_err(|error| Error::new(error.to_string()))?;
    Ok((Snapshot::read_part(&text)?, modified))
}

fn bytes_of(path: &Path) -> io::Result<(Vec<u8>, Option<Timestamp>)> {
    if path == STDIN {
        return Ok((read_all(io::stdin().lock(), None)?, None));
    }
    let file = File::open(path)?;
    // The length and the modification time of a named pipe have no meaning.
    let metadata = file.metadata().ok().filter(Metadata::is_file);
    let text = read_all(file, metadata.as_ref().map(Metadata::len))?;
    let modified = metadata.and_then(|metadata| Timestamp::try_from(metadata.modified().ok()?).ok());
    Ok((text, modified))
}
