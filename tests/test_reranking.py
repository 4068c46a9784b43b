"""A reranker reads the best passages again; here an ONNX graph that likes one word."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from memorix import doctor, rerankers
from memorix.arguments import query_from
from memorix.config import Config, load
from memorix.errors import ModelUnavailable
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.query import Answer
from memorix.wiring import load_model, open_memory

WORDS = ["[PAD]", "[UNK]", "where", "canary", "gateway"]
LIKES = {"canary": 5.0}
LISTED = "Xenova/ms-marco-MiniLM-L-6-v2"


def write_reranker(folder: Path, file: str = "model.onnx") -> Path:
    """Write a cross-encoder whose logit is the sum of how it likes each word of the passage."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    likes = np.array([LIKES.get(word, -0.1) for word in WORDS], dtype=np.float32)
    names = ("input_ids", "token_type_ids", "attention_mask")
    nodes = [
        helper.make_node("Gather", ["likes", "input_ids"], ["liked"]),
        helper.make_node("Mul", ["token_type_ids", "attention_mask"], ["of_passage"]),
        helper.make_node("Cast", ["of_passage"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["liked", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "axis"], ["logits"], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "liking",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [
            numpy_helper.from_array(likes, "likes"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
        ],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), folder / file)
    tokenizer = Tokenizer(WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="$A:0", pair="$A:0 $B:1")
    tokenizer.save(str(folder / "tokenizer.json"))
    told = {"model_max_length": 128, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "config.json").write_text('{"pad_token_id": 0}', encoding="utf-8")
    special = '{"pad_token": "[PAD]", "unk_token": "[UNK]"}'
    (folder / "special_tokens_map.json").write_text(special, encoding="utf-8")
    return folder


def pulled(models_dir: Path) -> Path:
    """Lay a model out as the hub's cache keeps one that was pulled."""
    kept = models_dir / f"models--{LISTED.replace('/', '--')}"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc", encoding="utf-8")
    return write_reranker(kept / "snapshots" / "abc", "onnx/model.onnx")


@pytest.fixture
def start(settings: dict[str, str]) -> Iterator[Callable[..., tuple[Memory, Config]]]:
    opened: list[Memory] = []

    def started(**more: str) -> tuple[Memory, Config]:
        config = load({}, settings | more)
        opened.append(open_memory(config))
        load_model(opened[-1], config)
        return opened[-1], config

    yield started
    for memory in opened:
        memory.close()


def keep_two(memory: Memory) -> None:
    memory.remember(Draft("The gateway gateway listens on the gateway port.", "Gateway"))
    memory.remember(Draft("Another gateway is tried by the canary only.", "Trial"))


def titles(answer: Answer) -> list[str]:
    return [hit.title for hit in answer.hits]


def ask(memory: Memory, **more: object) -> Answer:
    return memory.recall(query_from("where gateway", **more))  # type: ignore[arg-type]


def test_without_a_setting_nothing_is_read_again(
    start: Callable[..., tuple[Memory, Config]],
) -> None:
    memory, _ = start()
    keep_two(memory)

    assert titles(ask(memory)) == ["Gateway", "Trial"]
    assert memory.status().reranker == "off"


def test_a_reranker_in_a_folder_puts_the_passage_it_likes_first(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path
) -> None:
    folder = write_reranker(tmp_path / "own")
    memory, config = start(MEMORIX_RERANKER=str(folder))
    keep_two(memory)

    answer = ask(memory)

    assert titles(answer) == ["Trial", "Gateway"]
    assert "read again +" in str(answer.hits[0].why)
    assert memory.status().reranker == str(folder)
    checks = {check.name: check for check in doctor.examine(memory, config)}
    assert (checks["reranker"].verdict, checks["reranker"].said) == ("ok", str(folder))


def test_one_that_was_pulled_is_loaded_from_the_cache(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path
) -> None:
    pulled(tmp_path / "models")
    memory, _ = start(MEMORIX_RERANKER=LISTED, MEMORIX_MODELS_DIR=str(tmp_path / "models"))
    keep_two(memory)

    assert titles(ask(memory)) == ["Trial", "Gateway"]
    assert memory.status().reranker == LISTED


def test_the_order_of_a_reranker_holds_across_pages(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path
) -> None:
    memory, _ = start(MEMORIX_RERANKER=str(write_reranker(tmp_path / "own")))
    keep_two(memory)

    first = ask(memory, limit=1)
    second = ask(memory, limit=1, cursor=first.next_cursor)

    assert titles(first) + titles(second) == ["Trial", "Gateway"]


def test_an_identifier_that_exists_stays_first(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path
) -> None:
    memory, _ = start(MEMORIX_RERANKER=str(write_reranker(tmp_path / "own")))
    memory.remember(Draft("ERR_0x3F means the gateway is full.", "Code"))
    memory.remember(Draft("The canary means the gateway is tried.", "Trial"))

    answer = memory.recall(query_from("what means ERR_0x3F gateway"))

    assert titles(answer) == ["Code", "Trial"]


@pytest.mark.parametrize(
    ("name", "said"),
    [(LISTED, f"memorix model pull {LISTED}"), ("no/such", "There is no reranker 'no/such'")],
)
def test_one_that_is_not_there_changes_nothing_and_is_told(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path, name: str, said: str
) -> None:
    memory, config = start(MEMORIX_RERANKER=name, MEMORIX_MODELS_DIR=str(tmp_path / "none"))
    keep_two(memory)

    assert titles(ask(memory)) == ["Gateway", "Trial"]
    assert memory.status().reranker.startswith("off: ")
    assert said in memory.status().reranker
    checks = {check.name: check for check in doctor.examine(memory, config)}
    assert checks["reranker"].verdict == "failed"


def test_one_that_breaks_down_is_let_go(
    start: Callable[..., tuple[Memory, Config]], tmp_path: Path
) -> None:
    folder = write_reranker(tmp_path / "own")
    likes = onnx.load(folder / "model.onnx")
    del likes.graph.initializer[0]
    few = np.array([0.0], dtype=np.float32)  # it has nothing to say of most words
    likes.graph.initializer.append(numpy_helper.from_array(few, "likes"))
    onnx.save(likes, folder / "model.onnx")
    memory, _ = start(MEMORIX_RERANKER=str(folder))
    keep_two(memory)

    assert titles(ask(memory)) == ["Gateway", "Trial"]
    assert memory.status().reranker.startswith(f"off: The reranker {folder} cannot be used")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        rerankers.load(str(tmp_path), tmp_path)


def test_the_setting_is_written_and_taken_back_by_command(memorix: Callable[..., str]) -> None:
    memorix("model", "use", "some/reranker", "--reranker")
    assert json.loads(memorix("config", "--json"))["reranker"]["value"] == "some/reranker"

    memorix("model", "use", "none", "--reranker")
    assert json.loads(memorix("config", "--json"))["reranker"]["value"] == ""
