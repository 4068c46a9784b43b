import os
import subprocess
from pathlib import Path

import pytest

from memorix.errors import InvalidRequest
from memorix.scopes import ID_FILE, Project, claim, find_project, init_in_repo, scope_folder

ULID = "01K5ZJ6Q3V9W8X7Y6T5R4E3W2Q"


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    work = tmp_path.resolve() / "work"
    work.mkdir()
    return work


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *words]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def repo(folder: Path, remote: str = "", commit: str = "first") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", commit)
    return folder


def clone(source: Path, folder: Path, *words: str) -> Path:
    git(source.parent, "clone", "-q", *words, str(source), str(folder))
    return folder


def project(cwd: Path) -> Project:
    found = find_project(cwd)
    assert found is not None
    return found


def first_note(of: Project, projects: Path) -> str:
    """Do what a first `remember` does: choose a folder, create it, claim it."""
    name = scope_folder(of, projects)
    (projects / name).mkdir(parents=True, exist_ok=True)
    assert claim(of, projects / name)
    return name


# -- which project is this


@pytest.mark.parametrize(
    ("remote", "identity"),
    [
        ("git@github.com:Acme/App.git", "git:github.com/acme/app"),
        ("https://github.com/acme/app", "git:github.com/acme/app"),
        ("https://ann:secret@GitHub.com:443/acme/app.git/", "git:github.com/acme/app"),
        ("ssh://git@ssh.github.com:443/acme/app.git", "git:github.com/acme/app"),
        ("git@github.com-work:acme/app.git", "git:github.com/acme/app"),
        ("git://github.com//acme/app.git", "git:github.com/acme/app"),
        ("git@gitlab.acme.org:Group/Sub/App.git", "git:gitlab.acme.org/group/sub/app"),
        ("ann@Code.acme.org:/srv/App.git", "git:code.acme.org/srv/App"),
        ("ssh://[2001:db8::1]:2222/app", "git:[2001:db8::1]/app"),
    ],
)
def test_a_remote_is_one_identity_however_it_is_spelled(
    work: Path, remote: str, identity: str
) -> None:
    found = project(repo(work / "here", remote))

    assert found.identities == (identity, f"path:{work / 'here'}")
    assert (found.slug, found.how) == ("app", "git remote")


def test_no_password_of_a_remote_is_kept(work: Path) -> None:
    assert "secret" not in repr(project(repo(work / "a", "https://ann:secret@host.org/x/y.git")))


def test_origin_comes_before_upstream_and_upstream_before_others(work: Path) -> None:
    here = repo(work / "app")
    seen = []
    for name in ("fork", "upstream", "origin"):
        git(here, "remote", "add", name, f"git@github.com:{name}/app.git")
        seen.append(project(here).identities[0])

    assert seen == [f"git:github.com/{name}/app" for name in ("fork", "upstream", "origin")]


def test_a_subfolder_is_its_repository(work: Path) -> None:
    here = repo(work / "app")
    (here / "src" / "deep").mkdir(parents=True)

    assert project(here / "src" / "deep") == project(here)


@pytest.mark.parametrize("remote", ["", "git@github.com:acme/app.git"])
def test_a_worktree_is_its_repository(work: Path, remote: str) -> None:
    here = repo(work / "app", remote)
    git(here, "worktree", "add", "-q", str(work / "feature"))

    tree = project(work / "feature")

    assert (tree.identities, tree.slug) == (project(here).identities, "app")
    assert tree.root == work / "feature"


def test_worktrees_of_a_bare_repository_are_one_project(work: Path) -> None:
    bare = clone(repo(work / "app"), work / "all" / ".bare", "--bare")
    git(bare, "remote", "remove", "origin")
    for name in ("one", "two"):
        git(bare, "worktree", "add", "-q", "-b", name, str(work / "all" / name))

    one, two = project(work / "all" / "one"), project(work / "all" / "two")

    assert one.identities == two.identities
    assert one.identities[-1] == f"path:{work / 'all'}"


def test_a_clone_of_a_local_clone_has_the_remote_of_its_origin(work: Path) -> None:
    here = repo(work / "app", "git@github.com:acme/app.git")
    second = clone(here, work / "second")
    bare = clone(here, work / "third.git", "--bare")
    fourth = clone(bare, work / "fourth")
    git(fourth, "remote", "set-url", "origin", bare.as_uri())

    for copy in (second, fourth):
        assert project(copy).identities[0] == "git:github.com/acme/app"
        assert project(copy).slug == "app"


def test_local_remotes_that_lead_in_a_circle_are_passed_over(work: Path) -> None:
    here, there = repo(work / "a", "../b"), repo(work / "b", "../a")

    assert project(here).how == project(there).how == "root commit"


def test_a_submodule_is_a_project_of_its_own(work: Path) -> None:
    part = repo(work / "part", "git@github.com:acme/part.git")
    whole = repo(work / "whole", "git@github.com:acme/whole.git")
    git(whole, "submodule", "add", "-q", str(part), "lib")

    assert (whole / "lib" / ".git").is_file()
    assert project(whole / "lib").identities[0] == "git:github.com/acme/part"
    assert project(whole).identities[0] == "git:github.com/acme/whole"


def test_without_a_remote_the_first_commit_decides(work: Path) -> None:
    here = repo(work / "app")
    root = git(here, "rev-parse", "HEAD")
    git(here, "commit", "-q", "--allow-empty", "-m", "second")
    copy = clone(here, work / "copy")

    assert project(here).identities == (f"root:{root}", f"path:{here}")
    assert project(copy).identities == (f"root:{root}", f"path:{copy}")
    assert project(here).how == "root commit"


def test_the_first_commit_of_a_shallow_clone_is_not_known(work: Path) -> None:
    here = repo(work / "app")
    git(here, "commit", "-q", "--allow-empty", "-m", "second")
    copy = work / "copy"
    git(work, "clone", "-q", "--depth", "1", here.as_uri(), str(copy))

    assert project(copy).how == "path"


def test_without_commits_or_without_git_the_path_decides(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, full = repo(work / "empty", commit=""), repo(work / "full")

    assert project(empty).identities == (f"path:{empty}",)
    monkeypatch.setenv("PATH", str(work))
    assert project(full).identities == (f"path:{full}",)


def test_a_plain_folder_is_a_project_by_its_path(work: Path) -> None:
    found = project(work)

    assert found.identities == (f"path:{work}",)
    assert (found.slug, found.how, found.bundle) == ("work", "path", None)


def test_a_link_to_a_folder_is_that_folder(work: Path) -> None:
    here = repo(work / "app", commit="")
    (work / "link").symlink_to(here, target_is_directory=True)

    assert project(work / "link") == project(here)


def test_home_and_what_is_above_it_are_no_project() -> None:
    home = Path.home()

    for folder in (home, *home.resolve().parents):
        assert find_project(folder) is None


def test_dotfiles_kept_in_git_do_not_swallow_every_folder_at_home() -> None:
    home = Path.home().resolve()
    git(home, "init", "-q")
    (home / "letters").mkdir()

    assert project(home).root == home
    assert project(home / "letters").root == home / "letters"


def test_variables_of_git_do_not_lead_to_another_repository(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = repo(work / "app"), repo(work / "other", commit="other")
    expected = project(here).identities

    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert project(here).identities == expected


def test_no_program_of_a_repository_is_run(work: Path) -> None:
    here = repo(work / "app")
    trap = work / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{work / 'sprung'}'\n", encoding="utf-8")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.gitProxy"):
        git(here, "config", key, str(trap))
    (here / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("reference-transaction", "post-index-change"):
        (here / ".git" / "hooks" / hook).symlink_to(trap)

    assert project(here).how == "root commit"

    assert not (work / "sprung").exists()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe[remote", b'[remote "origin"]\n\turl\n[remote "x"', b"gitdir:"]
)
def test_a_broken_repository_is_a_project_by_its_path(work: Path, content: bytes) -> None:
    for broken in (work / "a" / ".git", work / "b" / ".git" / "config"):
        broken.parent.mkdir(parents=True)
        broken.write_bytes(content)

    assert project(work / "a").identities == (f"path:{work / 'a'}",)
    assert project(work / "b").identities == (f"path:{work / 'b'}",)


def test_values_of_the_configuration_may_be_quoted_and_commented(work: Path) -> None:
    here = repo(work / "app", commit="")
    (here / ".git" / "config").write_text(
        '[Remote "origin"] # ours\r\n  URL = "https://host.org/a/\\"b\\".git" ; why\r\n',
        encoding="utf-8",
        newline="",
    )

    assert project(here).identities[0] == 'git:host.org/a/"b"'


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("My App_2", "my-app-2"),
        ("Café.Ångström", "cafe-angstrom"),
        ("记忆 Tool", "记忆-tool"),
        ("con", "con-project"),
        ("COM1", "com1-project"),
        ("user", "user-project"),
        ("all", "all-project"),
        ("---", "unnamed"),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_slug_is_a_portable_name_that_means_no_other_scope(
    work: Path, name: str, slug: str
) -> None:
    (work / name).mkdir()

    assert project(work / name).slug == slug


# -- the id file


def test_an_id_file_makes_any_folder_one_project_in_every_clone(work: Path) -> None:
    here = repo(work / "app")

    path = init_in_repo(here, "tool", f"id:{ULID}")
    git(here, "add", ".")
    git(here, "commit", "-q", "-m", "id")
    copy = project(clone(here, work / "copy"))

    assert path == here / ID_FILE
    assert copy.identities == (f"id:{ULID}", f"path:{work / 'copy'}")
    assert (copy.slug, copy.how) == ("tool", "id file")
    assert copy.bundle == work / "copy" / "memory"


def test_an_id_file_comes_before_the_remote_which_stays_known(work: Path) -> None:
    here = repo(work / "app", "git@github.com:acme/app.git")
    init_in_repo(here, "app", ULID, bundle="")

    found = project(here)

    assert found.identities[:2] == (f"id:{ULID}", "git:github.com/acme/app")
    assert found.bundle is None


def test_a_worktree_of_an_older_branch_has_the_id_of_its_repository(work: Path) -> None:
    here = repo(work / "app")
    git(here, "worktree", "add", "-q", str(work / "old"))
    init_in_repo(here, "app", ULID)

    assert project(work / "old").identities == project(here).identities
    assert project(work / "old").bundle == here / "memory"


def test_a_part_of_a_repository_can_be_a_project(work: Path) -> None:
    here = repo(work / "mono", "git@github.com:acme/mono.git")
    (here / "part" / "src").mkdir(parents=True)
    init_in_repo(here / "part", "part", ULID)

    found = project(here / "part" / "src")

    assert found.identities == (f"id:{ULID}", f"path:{here / 'part'}")
    assert not set(found.identities) & set(project(here).identities)


@pytest.mark.parametrize("bundle", ["../out", "/etc", "door", "", ".", "a/../../b", ".git", "C:x"])
def test_a_bundle_outside_the_repository_is_passed_over(work: Path, bundle: str) -> None:
    here = repo(work / "app")
    (here / "door").symlink_to(work, target_is_directory=True)
    (here / ID_FILE).write_text(f"id = '{ULID}'\nbundle = '{bundle}'\n", encoding="utf-8")

    assert project(here).bundle is None
    assert project(here).how == "id file"


@pytest.mark.parametrize("content", [b"id = ", b"id = 7\nproject = []\n", b'id = "x"', b"\xff\xff"])
def test_an_id_file_that_cannot_be_read_falls_to_the_next_means(work: Path, content: bytes) -> None:
    here = repo(work / "app", "git@github.com:acme/app.git")
    (here / ID_FILE).write_bytes(content)

    assert project(here).how == "git remote"
    assert project(here).slug == "app"


def test_making_the_same_project_twice_changes_nothing(work: Path) -> None:
    content = init_in_repo(work, "app", ULID).read_bytes()

    assert init_in_repo(work, "app", ULID).read_bytes() == content


def test_an_id_file_with_other_content_is_never_replaced(work: Path) -> None:
    content = init_in_repo(work, "app", ULID).read_bytes()

    for slug, identity, bundle in (
        ("b", ULID, "memory"),
        ("app", ULID[::-1], "memory"),
        ("app", ULID, ""),
    ):
        with pytest.raises(InvalidRequest, match="was not changed"):
            init_in_repo(work, slug, identity, bundle)

    assert (work / ID_FILE).read_bytes() == content


def test_a_project_cannot_be_made_with_impossible_values(work: Path) -> None:
    for slug, identity, bundle in (("A b", ULID, "m"), ("a", "x y", "m"), ("a", ULID, "../m")):
        with pytest.raises(InvalidRequest):
            init_in_repo(work, slug, identity, bundle)

    assert not (work / ID_FILE).exists()


# -- which folder of the vault is its


def test_looking_for_the_folder_creates_nothing(work: Path) -> None:
    assert scope_folder(project(repo(work / "app")), work / "vault" / "projects") == "app"
    assert not (work / "vault").exists()


def test_two_projects_with_the_same_name_have_two_folders(work: Path) -> None:
    projects = work / "vault"
    copies = [project(repo(work / n / "app", commit=n)) for n in ("a", "b", "c")]

    names = [first_note(each, projects) for each in copies]

    assert names == ["app", "app-2", "app-3"]
    assert [scope_folder(each, projects) for each in copies] == names


def test_a_numbered_folder_made_by_hand_is_not_taken(work: Path) -> None:
    projects = work / "vault"
    (projects / "app-2").mkdir(parents=True)
    first_note(project(repo(work / "a" / "app", commit="a")), projects)

    assert scope_folder(project(repo(work / "b" / "app", commit="b")), projects) == "app-3"


@pytest.mark.parametrize("made", ["app", "App"])
def test_a_folder_of_its_name_made_by_hand_is_the_projects(work: Path, made: str) -> None:
    (work / "vault" / made).mkdir(parents=True)

    assert scope_folder(project(repo(work / "app")), work / "vault") == made


def test_a_renamed_folder_of_the_vault_still_belongs_to_its_project(work: Path) -> None:
    projects, here = work / "vault", project(repo(work / "app"))
    first_note(here, projects)

    (projects / "app").rename(projects / "better name")

    assert scope_folder(here, projects) == "better name"


def test_a_copied_vault_knows_the_clone_on_another_machine(work: Path) -> None:
    here = repo(work / "here" / "app", "git@github.com:acme/app.git")
    first_note(project(here), work / "vault")
    there = project(repo(work / "there" / "other-name", "https://github.com/Acme/App"))

    (work / "vault").rename(work / "copy")

    assert scope_folder(there, work / "copy") == "app"


def test_a_path_is_claimed_only_where_there_is_nothing_better(work: Path) -> None:
    projects = work / "vault"
    plain = repo(work / "plain", commit="")
    for folder in (plain, repo(work / "app")):
        first_note(project(folder), projects)

    assert f'"path:{plain}"' in (projects / "plain" / ID_FILE).read_text(encoding="utf-8")
    assert "path:" not in (projects / "app" / ID_FILE).read_text(encoding="utf-8")


def test_a_project_keeps_its_folder_while_its_identity_grows(work: Path) -> None:
    projects, here = work / "vault", repo(work / "app", commit="")
    git_steps = [
        "commit -q --allow-empty -m first",
        "remote add origin git@github.com:acme/renamed.git",
        "remote set-url origin git@github.com:acme/moved.git",
    ]
    first_note(project(here), projects)

    for step in git_steps:
        git(here, *step.split())
        assert first_note(project(here), projects) == "app"
        if "add" in step:
            init_in_repo(here, "another", ULID, bundle="")
        assert first_note(project(here), projects) == "app"

    kept = (projects / "app" / ID_FILE).read_text(encoding="utf-8")
    for identity in (f"id:{ULID}", "git:github.com/acme/renamed", "git:github.com/acme/moved"):
        assert kept.count(f'"{identity}"') == 1


def test_a_remote_added_after_the_first_commit_was_claimed_is_the_same_project(
    work: Path,
) -> None:
    projects, here = work / "vault", repo(work / "app")
    first_note(project(here), projects)

    git(here, "remote", "add", "origin", "git@github.com:acme/app.git")
    here.rename(work / "moved")

    assert first_note(project(work / "moved"), projects) == "app"


def test_another_repository_at_the_same_path_gets_another_folder(work: Path) -> None:
    projects, here = work / "vault", repo(work / "app", commit="")
    first_note(project(here), projects)
    git(here, "remote", "add", "origin", "git@github.com:acme/app.git")
    first_note(project(here), projects)

    git(here, "remote", "set-url", "origin", "git@github.com:someone/else.git")

    assert scope_folder(project(here), projects) == "else"


def test_two_repositories_made_from_one_template_are_two_projects(work: Path) -> None:
    projects, first = work / "vault", repo(work / "app")
    first_note(project(first), projects)
    git(first, "remote", "add", "origin", "git@github.com:acme/app.git")
    first_note(project(first), projects)
    second = clone(first, work / "second" / "app")
    git(second, "remote", "set-url", "origin", "git@github.com:other/app.git")

    assert scope_folder(project(second), projects) == "app-2"
    assert not claim(project(second), projects / "app")


def test_a_folder_of_another_project_is_not_claimed(work: Path) -> None:
    projects = work / "vault"
    first_note(project(repo(work / "a" / "app", commit="a")), projects)
    before = (projects / "app" / ID_FILE).read_bytes()

    assert not claim(project(repo(work / "b" / "app", commit="b")), projects / "app")

    assert (projects / "app" / ID_FILE).read_bytes() == before


def test_claiming_again_does_not_write(work: Path) -> None:
    projects, here = work / "vault", project(repo(work / "app"))
    first_note(here, projects)
    os.utime(projects / "app" / ID_FILE, ns=(1, 1))

    first_note(here, projects)

    assert (projects / "app" / ID_FILE).stat().st_mtime_ns == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("listed", ['["git:host.org/a/b"] # mine', "[\n'git:host.org/a/b'\n]"])
def test_a_claim_keeps_what_a_person_wrote(work: Path, end: str, listed: str) -> None:
    here = project(repo(work / "app", "git@host.org:a/b"))
    text = f"# my project\nowner = 'Ann'\nidentities = {listed}\n[more]\nx = 1\n".replace("\n", end)
    (work / ID_FILE).write_bytes(text.encode())
    init_in_repo(here.root, "app", ULID)

    assert claim(project(here.root), work)

    after = (work / ID_FILE).read_bytes().decode("utf-8")
    assert f'"id:{ULID}"' in after
    kept = after.replace(f'{end}  "id:{ULID}",{end}', "").replace(end, "\n")
    assert kept.replace("\n", "") == text.replace(end, "\n").replace("\n", "")
    assert after.count(end) == text.count(end) + 2 - text.count(f"[{end}")
    assert scope_folder(project(here.root), work.parent) == "work"


def test_a_claim_is_read_between_the_marks_of_a_merge_and_not_rewritten(work: Path) -> None:
    here = project(repo(work / "app", "git@host.org:a/b"))
    folder = work / "vault" / "x"
    folder.mkdir(parents=True)
    text = (
        'identities = [\n<<<<<<< ours\n "git:host.org/a/b",\n=======\n "git:c/d",\n>>>>>>> x\n]\n'
    )
    (folder / ID_FILE).write_bytes(text.encode())

    assert scope_folder(here, work / "vault") == "x"
    assert claim(here, folder)
    assert (folder / ID_FILE).read_bytes() == text.encode()


def test_who_works_inside_the_vault_works_on_the_project_of_the_folder(work: Path) -> None:
    projects = work / "vault" / "projects"
    first_note(project(repo(work / "app", "git@host.org:a/b")), projects)

    found = project(projects / "b")

    assert found.identities[0] == "git:host.org/a/b"
    assert scope_folder(found, projects) == "b"
