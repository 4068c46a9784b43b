from pathlib import Path

import pytest

from memorix.config import config_path, describe, load, write_setting
from memorix.errors import ConfigInvalid


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path.resolve() / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


def toml(home: Path, text: str) -> dict[str, str]:
    path = home / "settings.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return {"MEMORIX_CONFIG": str(path)}


def problems(
    env: dict[str, str] | None = None, flags: dict[str, str | None] | None = None
) -> tuple[str, ...]:
    with pytest.raises(ConfigInvalid) as caught:
        load(flags, env or {})
    return caught.value.problems


def test_without_any_setting_the_vault_is_in_the_home_folder(home: Path) -> None:
    config = load({}, {})

    assert config.vault == home / "Memorix"
    assert config.state_dir.parent.name == "vaults"
    assert config.state_dir.name.startswith("memorix-")
    assert config.models_dir == config.state_dir.parent.parent / "models"
    assert (config.model, config.project, config.watch, config.rescan_s) == ("", "", "auto", 60)
    assert config.cwd == Path.cwd()
    assert not config.state_dir.exists()


def test_a_flag_beats_the_environment_which_beats_the_file(home: Path) -> None:
    env = toml(home, 'model = "of-file"\nproject = "of-file"\nwatch = "poll"\n')
    env |= {"MEMORIX_MODEL": "of-env", "MEMORIX_PROJECT": "of-env"}

    config = load({"model": "of-flag", "project": None}, env)

    assert (config.model, config.project, config.watch) == ("of-flag", "of-env", "poll")


def test_every_value_tells_where_it_was_set(home: Path) -> None:
    env = toml(home, "rescan_s = 5\n") | {"MEMORIX_LOG_LEVEL": "debug"}

    rows = describe(load({"state_dir": str(home / "state")}, env))

    assert ("state_dir", str(home / "state"), "--state-dir") in rows
    assert ("log_level", "DEBUG", "MEMORIX_LOG_LEVEL") in rows
    assert ("rescan_s", "5", f"{home / 'settings.toml'}, key rescan_s") in rows
    assert ("watch", "auto", "default") in rows
    assert {"vault", "models_dir", "model", "project", "cwd"} < {name for name, _, _ in rows}


def test_an_empty_variable_counts_as_not_set(home: Path) -> None:
    config = load({"watch": ""}, {"MEMORIX_VAULT": "", "MEMORIX_WATCH": " ", "MEMORIX_CONFIG": ""})

    assert (config.vault, config.watch) == (home / "Memorix", "auto")


def test_all_problems_are_told_together_each_with_its_source(home: Path) -> None:
    env = toml(home, 'modle = "x"\nrescan_s = "often"\nvault = 3\nwatch = "never"\n')
    env |= {"MEMORIX_LOG_LEVEL": "loud", "MEMORIX_STATE_DIR": "${HOME}/state"}

    found = problems(env, {"rescan_s": "0", "colour": "red"})

    file = home / "settings.toml"
    assert [p.partition(":")[0] if "toml" not in p else p for p in found] == [
        "--colour",
        f"{file}, key modle: no such setting. Do you mean model?",
        f"{file}, key rescan_s: must be a whole number, not 'often'",
        f"{file}, key vault: must be a text in quotes, not 3",
        f"{file}, key watch: must be one of auto, poll, off, not 'never'",
        "MEMORIX_STATE_DIR",
        "MEMORIX_LOG_LEVEL",
        "--rescan-s",
    ]


def test_a_file_that_is_not_toml_is_named_with_a_hint_about_backslashes(home: Path) -> None:
    (problem,) = problems(toml(home, 'vault = "C:\\Users\\me"\n'))

    assert "settings.toml: is not TOML" in problem
    assert "single quotes" in problem


def test_a_file_in_another_encoding_is_a_problem_not_a_crash(home: Path) -> None:
    (home / "settings.toml").write_bytes(b'model = "\xe9"\n')

    (problem,) = problems({"MEMORIX_CONFIG": str(home / "settings.toml")})

    assert "cannot be read" in problem


def test_a_file_with_a_byte_order_mark_is_read(home: Path) -> None:
    assert load({}, toml(home, '\ufeffmodel = "m"\r\n')).model == "m"


def test_a_named_file_must_exist_the_usual_one_need_not(home: Path) -> None:
    assert "no such configuration file" in problems({"MEMORIX_CONFIG": str(home / "none.toml")})[0]
    assert load({}, {}).model == ""


def test_the_usual_file_is_read_from_the_users_folder() -> None:
    path = config_path({})
    path.parent.mkdir(parents=True)
    path.write_text('project = "app"\n', encoding="utf-8")

    assert load({}, {}).project == "app"
    assert (path.name, path.parent.name) == ("config.toml", "memorix-notes")


def test_a_relative_path_in_the_file_starts_at_the_file(home: Path) -> None:
    assert load({}, toml(home, 'vault = "notes"\n')).vault == home / "notes"


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    assert load({"vault": "~/notes"}, {}).vault == home / "notes"


def test_a_link_to_a_vault_has_the_state_of_the_vault(home: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real", target_is_directory=True)

    real, link = load({"vault": str(home / "real")}, {}), load({"vault": str(home / "link")}, {})

    assert (link.vault, link.state_dir) == (real.vault, real.state_dir)


def test_two_vaults_with_the_same_name_have_two_states(home: Path) -> None:
    one, two = (load({"vault": str(home / place / "notes")}, {}) for place in "ab")

    assert one.state_dir != two.state_dir


@pytest.mark.parametrize("name", ["state_dir", "models_dir"])
def test_what_is_not_notes_must_lie_outside_the_vault(home: Path, name: str) -> None:
    (home / "door").symlink_to(home / "Memorix", target_is_directory=True)

    for folder in (home / "Memorix", home / "Memorix" / "x", home / "door" / "x"):
        (problem,) = problems({f"MEMORIX_{name.upper()}": str(folder)})
        assert problem.startswith(f"MEMORIX_{name.upper()}: ")
        assert "outside the vault" in problem


def test_the_whole_home_folder_is_no_vault(home: Path) -> None:
    (problem,) = problems(flags={"vault": "~"})

    assert "cannot be the vault" in problem


def test_a_file_is_no_vault(home: Path) -> None:
    (home / "file").write_text("", encoding="utf-8")

    assert "is not a folder" in problems(flags={"vault": str(home / "file")})[0]


@pytest.mark.parametrize("text", ["a\0b", "${workspaceFolder}/n", "$HOME/n", "%USERPROFILE%/n"])
def test_a_path_that_was_not_filled_in_is_a_problem(text: str) -> None:
    assert problems(flags={"vault": text})[0].startswith("--vault: must be ")


def test_the_host_says_where_it_works(home: Path) -> None:
    (home / "ours").mkdir()
    (home / "theirs").mkdir()
    env = {"CLAUDE_PROJECT_DIR": str(home / "theirs")}

    assert load({}, env).cwd == home / "theirs"
    assert load({}, env | {"MEMORIX_PROJECT_DIR": str(home / "ours")}).cwd == home / "ours"
    assert load({"cwd": str(home)}, env).cwd == home


def test_a_missing_place_of_work_is_a_problem_only_in_our_own_variable(home: Path) -> None:
    gone = str(home / "gone")

    assert load({}, {"CLAUDE_PROJECT_DIR": gone}).cwd == Path.cwd()
    assert "MEMORIX_PROJECT_DIR: there is no folder" in problems({"MEMORIX_PROJECT_DIR": gone})[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'model = "new"\n'),
        ('model = "old"', 'model = "new"'),
        (
            '# mine\r\n  model="a # b"  # why\r\nwatch = "off"\r\n',
            '# mine\r\n  model="new"  # why\r\nwatch = "off"\r\n',
        ),
        ("'model' = 'old' # x\n", "'model' = \"new\" # x\n"),
        ('# model = "no"\nwatch = "off"', '# model = "no"\nwatch = "off"\nmodel = "new"\n'),
        (
            'watch = "off"\n\n# of the table\n[t]\nmodel = "other"\n',
            'watch = "off"\n\nmodel = "new"\n# of the table\n[t]\nmodel = "other"\n',
        ),
        ('\ufeffmodel = "old"\n', '\ufeffmodel = "new"\n'),
    ],
)
def test_setting_a_key_changes_its_line_only(home: Path, before: str, after: str) -> None:
    path = home / "c.toml"
    path.write_bytes(before.encode())

    write_setting(path, "model", "new")

    assert path.read_bytes().decode("utf-8") == after


def test_setting_a_key_creates_the_file_and_its_folder(home: Path) -> None:
    path = home / "a" / "b" / "config.toml"

    write_setting(path, "rescan_s", 30)
    write_setting(path, "model", r"C:\models\é")

    config = load({}, {"MEMORIX_CONFIG": str(path)})
    assert (config.rescan_s, config.model) == (30, r"C:\models\é")


def test_a_file_kept_elsewhere_stays_linked(home: Path) -> None:
    (home / "dotfiles.toml").write_text("", encoding="utf-8")
    (home / "c.toml").symlink_to(home / "dotfiles.toml")

    write_setting(home / "c.toml", "model", "new")

    assert (home / "c.toml").is_symlink()
    assert (home / "dotfiles.toml").read_text(encoding="utf-8") == 'model = "new"\n'


@pytest.mark.parametrize(
    "content", ["model = ", 'model = """\nold"""\n', 'x = """\nmodel = "old"\n"""\n']
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(home: Path, content: str) -> None:
    path = home / "c.toml"
    path.write_bytes(content.encode())

    with pytest.raises(ConfigInvalid, match=r"c\.toml"):
        write_setting(path, "model", "new")

    assert path.read_bytes() == content.encode()


def test_only_known_settings_with_possible_values_are_set(home: Path) -> None:
    for key, value in (("modle", "x"), ("watch", "never"), ("vault", "${HOME}")):
        with pytest.raises(ConfigInvalid, match=key):
            write_setting(home / "c.toml", key, value)

    assert not (home / "c.toml").exists()
