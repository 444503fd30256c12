"""Addresses that fsspec or Dask know, told apart from files and folders of this machine."""

from __future__ import annotations


def is_remote(name: str) -> bool:
    """Whether it is such an address, by its `://`."""
    return "://" in name
