"""One server through a day: vim, git, a folder that goes and comes back, kill -9, a restart."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import editors
from tests.stress.session import Host, Refused, Session, environment, hosting

PATIENCE_S = 10.0
BIRDS = 14
# Notes of the folder that goes away; so many that their loss is asked about.


@dataclass
class Journey:
    """The server of the moment, and what was done, asked and answered so far."""

    host: Host
    settings: dict[str, str]
    tell: Callable[[str], None]
    server: Session | None = None
    running: ExitStack = field(default_factory=ExitStack)

    @property
    def vault(self) -> Path:
        return Path(self.settings["MEMORIX_VAULT"])

    def start(self) -> None:
        self.server = self.running.enter_context(self.host.session(self.settings))

    def does(self, what: str) -> None:
        self.tell(f"\n{what}")

    def asks(self, question: str, answer: str) -> None:
        """Ask until the answer begins so, or says so; it is told as it came last.

        An answer is the best title, or what the server says where it will not answer.
        """
        began, said = time.monotonic(), self._answer(question)
        while answer not in said and time.monotonic() - began < PATIENCE_S:
            time.sleep(0.02)
            said = self._answer(question)
        after = f"after {(time.monotonic() - began) * 1000:.0f} ms"
        self.tell(f"    {question!r} -> {said}   ({after})")
        assert answer in said, f"{question!r}: {said!r} instead of {answer!r}"

    def _answer(self, question: str) -> str:
        assert self.server
        try:
            best, *more = self.server.found(question) or ["nothing"]
            return best + (f" and {len(more)} more" if more else "")
        except Refused as refusal:
            return str(refusal)


def run(folder: Path, tell: Callable[[str], None]) -> None:
    """Go through all of it; `tell` gets each line.

    Raises:
        AssertionError: Something was not answered as it has to be.
    """
    settings = environment(folder)
    with hosting(folder / "servers") as host, ExitStack() as running:
        journey = Journey(host, settings, tell, running=running)
        journey.start()
        for step in (_remember, _vim, _branch, _folder, _vault, _kill, _while_nothing_ran):
            step(journey)


def _remember(journey: Journey) -> None:
    journey.does("remember: 'The gateway listens on port 8443.'")
    assert journey.server
    journey.server.call(
        "remember", text="The gateway listens on port 8443.", title="Gateway port", scope="user"
    )
    for number in range(BIRDS):
        (journey.vault / "user/birds").mkdir(exist_ok=True)
        file = journey.vault / f"user/birds/{number}.md"
        file.write_text(f"# Bird {number}\n\nThe heron number {number} is back.\n", "utf-8")
    journey.asks("8443", "Gateway port")
    journey.asks("heron number 7", "Bird 7")


def _vim(journey: Journey) -> None:
    file = journey.vault / "user/gateway-port.md"
    if vim := shutil.which("vim"):
        journey.does("vim -c '%s/8443/9443/' -c wq user/gateway-port.md")
        commands = ["-c", "set backup writebackup", "-c", "%s/8443/9443/", "-c", "wq"]
        subprocess.run([vim, "-es", "-N", "-u", "NONE", *commands, str(file)], check=True)
    else:
        journey.does("what vim does when it saves (it is not installed): 8443 becomes 9443")
        editors.vim(file, file.read_text(encoding="utf-8").replace("8443", "9443"))
    journey.asks("9443", "Gateway port")
    journey.asks("8443", "nothing")


def _branch(journey: Journey) -> None:
    with _repository(journey.vault) as git:
        for file in (journey.vault / "user/birds").iterdir():
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace("heron", "egret"), encoding="utf-8")
        git("checkout", "-b", "egrets")
        git("commit", "--all", "-m", "egrets")
        journey.does("git checkout -b egrets, with every bird another one")
        journey.asks("egret number 7", "Bird 7")
        journey.asks("heron", "nothing")
        git("checkout", "main")
        journey.does("git checkout main")
        journey.asks("heron number 7", "Bird 7")
        journey.asks("egret", "nothing")


@contextmanager
def _repository(vault: Path) -> Iterator[Callable[..., None]]:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "gc.auto=0"]
        subprocess.run(["git", *who, *arguments], cwd=vault, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "herons")
    yield git


def _folder(journey: Journey) -> None:
    birds, away = journey.vault / "user/birds", journey.vault.parent / "birds"
    journey.does(f"mv user/birds elsewhere: {BIRDS} of {BIRDS + 1} notes are gone at once")
    birds.rename(away)
    journey.asks("heron number 7", "notes are missing")
    journey.does("mv elsewhere user/birds")
    away.rename(birds)
    journey.asks("heron number 7", "Bird 7")
    journey.does("mv user/birds user/fowl: they move within the vault")
    birds.rename(journey.vault / "user/fowl")
    journey.asks("heron number 7", "Bird 7")


def _vault(journey: Journey) -> None:
    away = journey.vault.parent / "vault-away"
    journey.does("mv vault elsewhere, as a disk that is pulled out")
    journey.vault.rename(away)
    journey.asks("heron number 7", "is missing")
    journey.does("mv elsewhere vault")
    away.rename(journey.vault)
    journey.asks("heron number 7", "Bird 7")


def _kill(journey: Journey) -> None:
    assert journey.server
    journey.server.call("remember", text="The ledger lies in Basel.", title="Ledger")
    journey.does("remember: 'The ledger lies in Basel.', then kill -9 of the server")
    journey.server.kill()
    journey.does("a new server")
    journey.start()
    journey.asks("where is the ledger", "Ledger")
    journey.asks("heron number 7", "Bird 7")


def _while_nothing_ran(journey: Journey) -> None:
    journey.running.close()
    journey.does("the host ends; an edit, a rename and a deletion while nothing runs; a new server")
    fowl = journey.vault / "user/fowl"
    (fowl / "7.md").write_text("# Bird 7\n\nThe bittern is back.\n", encoding="utf-8")
    (fowl / "8.md").rename(fowl / "eight.md")
    (fowl / "9.md").unlink()
    journey.start()
    journey.asks("bittern", "Bird 7")
    journey.asks("heron number 8", "Bird 8")
    assert journey.server
    assert "Bird 9" not in journey.server.found("heron number 9")
    journey.tell("    Bird 9 is in no answer")
