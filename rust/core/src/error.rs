//! What a scan can fail with: never content, only reads, arguments and a caller who stops it.

use std::{fmt, io};

/// Why a scan gave no result.
#[derive(Debug)]
pub enum Error {
    /// A read failed.
    Io(io::Error),
    /// An argument is out of range; the text names it and its range.
    Argument(&'static str),
    /// The caller's tick ended the scan.
    Stopped,
}

/// The result of a scan.
pub type Result<T> = std::result::Result<T, Error>;

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Argument(text) => f.write_str(text),
            Error::Stopped => f.write_str("the scan was stopped by its caller"),
        }
    }
}

impl std::error::Error for Error {}
