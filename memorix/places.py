"""Which scopes there are, and which of them a question or a write means."""

from dataclasses import dataclass, field

from memorix.errors import InvalidRequest
from memorix.layout import PROJECTS, USER
from memorix.scopes import ID_FILE, Project, claim, scope_folder
from memorix.store import Store
from memorix.versions import Effect

ALL = "all"
# The word by which a question asks for every scope.


@dataclass
class Places:
    """The scopes of a vault as seen from one project: its own, the user's, and all others by name.

    `named` is the project's name where it was given, instead of the one found in `project`.
    `reach` are the only scopes there are for a caller that may not see others; empty means all.
    """

    store: Store
    project: Project | None = None
    named: str = ""
    reach: frozenset[str] = frozenset()
    _found: str = field(default="", init=False)
    _claimed: bool = field(default=False, init=False)

    @property
    def slug(self) -> str:
        """The folder of this project below `projects/`; empty outside any project."""
        if self.named:
            return self.named
        if self.project and not self._found:
            self._found = scope_folder(self.project, self.store.vault / PROJECTS)
        return self._found

    def to_read(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the scopes a question looks at; empty means all, which must be asked for.

        Raises:
            InvalidRequest: There is no such scope.
        """
        names = [name.strip() for name in asked if name.strip()]
        if not names:
            own = (self.slug, USER) if self.slug else (USER,)
            return tuple(filter(self.reaches, own)) or tuple(sorted(self.reach))
        if ALL in names:
            return tuple(sorted(self.reach))
        return tuple(dict.fromkeys(self._known(name) for name in names))

    def to_write(self, asked: str) -> str:
        """Return the one scope a new note goes to: the project, unless another is named.

        Raises:
            InvalidRequest: There is no such scope.
        """
        name = asked.strip()
        if not name and self.reaches(self.slug or USER):
            return self.slug or USER
        if not name:
            raise InvalidRequest(f"Name the scope to write to: {', '.join(self.known())}.")
        if name == ALL:
            raise InvalidRequest("A note has one scope: user, project, or a project's name.")
        return self._known(name)

    def known(self) -> tuple[str, ...]:
        """Return every scope of the vault, sorted."""
        return tuple(sorted(self._all()))

    def claim(self, scope: str) -> None:
        """Mark a project's folder as this project's, before the first note goes there."""
        if self._claimed or self.project is None or self.named or scope != self.slug:
            return
        folder = self.store.vault / PROJECTS / scope
        folder.mkdir(parents=True, exist_ok=True)
        claim(self.project, folder)
        self.store.record([Effect(f"{PROJECTS}/{scope}/{ID_FILE}", None, None)])
        self._claimed = True

    def _known(self, name: str) -> str:
        if self.reaches(name) and (name == USER or (name == self.slug and name)):
            return name
        if name == "project":
            if not self.slug:
                raise InvalidRequest("This folder is no project. Use the scope `user`.")
            return self.slug
        known = self._all()
        if name in known:
            return name
        raise InvalidRequest(f"There is no scope {name!r}. Known: {', '.join(sorted(known))}.")

    def reaches(self, scope: str) -> bool:
        """Say whether the caller may see a scope."""
        return not self.reach or scope in self.reach

    def _all(self) -> set[str]:
        if self.reach:
            return set(self.reach)
        folder = self.store.vault / PROJECTS
        entries = folder.iterdir() if folder.is_dir() else ()
        found = {entry.name for entry in entries if entry.is_dir()}
        mounted = {prefix.rpartition("/")[2] for prefix in self.store.mounts}
        return {USER} | found | mounted | ({self.slug} if self.slug else set())
