"""The shared vectors: each engine gives the answers that were written by hand."""

from __future__ import annotations

import json

import make_vectors
import pytest
from engines import engines

FILES = ("verdicts", "lines", "records", "jsonl", "walks")


def vectors(file: str) -> list:
    rows = json.loads((make_vectors.VECTORS / f"{file}.json").read_text())
    return [pytest.param(file, row, id=f"{file}: {row['name']}") for row in rows]


@engines
@pytest.mark.parametrize(("file", "vector"), [row for file in FILES for row in vectors(file)])
def test_engine_gives_the_written_answer(engine, file, vector):
    """The vectors are what a stranger's parser would be checked with: no engine defines them."""
    said = make_vectors.answer(engine, file, vector)
    assert said == make_vectors.plain(make_vectors.expected(file, vector))


@pytest.mark.parametrize("file", FILES)
def test_vector_files_are_those_of_the_generator(file):
    """A vector changed in the file alone would be lost, and one in the generator never tested."""
    rows = json.loads((make_vectors.VECTORS / f"{file}.json").read_text())
    assert rows == make_vectors.plain(make_vectors.MAKERS[file]())


@pytest.mark.parametrize("file", FILES)
def test_names_of_vectors_are_unique(file):
    """A test that fails is found by its name."""
    names = [row["name"] for row in json.loads((make_vectors.VECTORS / f"{file}.json").read_text())]
    assert len(names) == len(set(names))
