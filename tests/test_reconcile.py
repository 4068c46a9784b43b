from hypothesis import given
from hypothesis import strategies as st

from memorix.reconcile import Move, Seen, diff, is_mass_loss, suspects

folders = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("123"), max_size=6)


def seen(folder: dict[str, str]) -> dict[str, Seen]:
    return {path: Seen(f"s{etag}", etag) for path, etag in folder.items()}


def test_an_unchanged_folder_needs_nothing() -> None:
    assert not suspects({"a": "s1"}, {"a": Seen("s1", "1")})
    assert not diff(["a"], {}, {"a": Seen("s1", "1")})


def test_a_touched_file_is_not_a_change() -> None:
    difference = diff(["a"], {"a": "1"}, {"a": Seen("old", "1")})

    assert difference.touched == ("a",)
    assert not difference.changed


def test_a_new_path_with_the_content_of_a_vanished_one_has_moved() -> None:
    difference = diff(["b"], {"b": "1"}, {"a": Seen("s", "1")})

    assert difference.moved == (Move("a", "b"),)
    assert not difference.gone


def test_a_copy_is_not_a_move() -> None:
    difference = diff(["a", "b"], {"b": "1"}, {"a": Seen("s", "1")})

    assert difference.changed == ("b",)
    assert not difference.moved


@given(folders, folders)
def test_applying_a_difference_makes_the_index_equal_the_folder(
    index: dict[str, str], folder: dict[str, str]
) -> None:
    known = seen(index)
    signatures = {path: f"s{etag}" for path, etag in folder.items()}
    hashed = {path: folder[path] for path in suspects(signatures, known)}

    difference = diff(folder, hashed, known)

    result = {path: etag for path, etag in index.items() if path not in difference.gone}
    for move in difference.moved:
        result[move.new] = result.pop(move.old)
    result |= {path: hashed[path] for path in (*difference.changed, *difference.touched)}
    assert result == folder


def test_most_of_a_vault_does_not_vanish_by_itself() -> None:
    assert is_mass_loss(60, 100)
    assert not is_mass_loss(5, 100)
    assert not is_mass_loss(3, 3)
