"""The version of the installed package; Cargo.toml holds the number."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("safepoint")
except PackageNotFoundError:
    __version__ = "0+source"
