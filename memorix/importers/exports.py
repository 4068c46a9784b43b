"""The JSON that memory programs export: mem0, mcp-memory-service, engram, Letta, Graphiti."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memorix.imported import Record, Unreadable
from memorix.importers.base import LIKELY, NO
from memorix.importers.fields import Fields, record
from memorix.importers.jsonfile import Damaged, Member, head_of, listed, members

MEM0 = Fields(
    utc=True,
    body=("memory", "content", "text"),
    title=(),
    type=("metadata.type", "metadata.category"),
    tags=("categories", "metadata.tags"),
    author=("actor_id", "agent_id", "app"),
    extra={
        "user_id": "user",
        "run_id": "session",
        "role": "role",
        "expiration_date": "expires_at",
        "metadata": "metadata",
    },
    last_days=("expiration_date",),
)
SERVICE = Fields(
    key=("content_hash",),
    title=(),
    body=("content",),
    type=("memory_type",),
    extra={"metadata": "metadata", "store": "store"},
)
ENGRAM = Fields(
    body=("content",),
    extra={"project": "project", "topic_key": "topic_key", "session_id": "session"},
    prefix="observation ",
    utc=True,
)
NPM = Fields(
    title=("title",),
    body=("narrative",),
    lists=("facts",),
    tags=("concepts",),
    created=("createdAt",),
    changed=("updatedAt",),
    author=("createdByAgentId",),
    extra={
        "entityName": "entity",
        "filesModified": "code_refs",
        "projectId": "project",
        "topicKey": "topic_key",
        "sessionId": "session",
        "commitHash": "commit",
    },
)
LETTA = Fields(
    title=("label", "name"),
    body=("value",),
    type=(),
    kind="Profile",
    description=("description",),
    extra={"limit": "limit"},
)
NODE = Fields(
    key=("uuid",),
    title=("name",),
    body=("summary",),
    type=(),
    kind="Entity",
    tags=("labels",),
    extra={"group_id": "group"},
)
EDGE = Fields(
    key=("uuid",),
    title=(),
    body=("fact",),
    type=(),
    tags=(),
    extra={
        "valid_at": "valid_from",
        "invalid_at": "valid_to",
        "name": "relation",
        "group_id": "group",
    },
    times=("valid_at", "invalid_at"),
    relations=(("about", "source_node_uuid"), ("about", "target_node_uuid")),
)


@dataclass(frozen=True, slots=True)
class Export:
    """A JSON export: the words of which its beginning has one each, and its lists of rows."""

    name: str
    words: Sequence[tuple[bytes, ...]]
    lists: Sequence[tuple[str, Fields]]
    file: str = ""

    def detect(self, source: Path) -> float:
        if source.is_dir() or source.suffix not in (".json", ".af", ".zip"):
            return NO
        found = head_of(source, self.file)
        return LIKELY if all(any(word in found for word in any_of) for any_of in self.words) else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        for member in members(source, (self.file,) if self.file else ()):
            yield from self._rows(member)

    def _rows(self, member: Member) -> Iterator[Record | Unreadable]:
        """Look for each list in the file; damage, which all of them meet, is named once."""
        damage: list[Unreadable] = []
        for prefix, names in self.lists:
            for where, row in listed(member, prefix):
                if isinstance(row, Damaged):
                    damage.append(row)
                else:
                    yield row if isinstance(row, Unreadable) else record(row, names, where)
        yield from damage[-1:]


def _anywhere(names: Fields, *keys: str) -> tuple[tuple[str, Fields], ...]:
    """Return the lists under these keys, and the file as a list."""
    return (*((f"{key}.item", names) for key in keys), ("item", names))


ALL = (
    Export(
        "mcp-memory-service",
        [(b'"content_hash"',), (b'"memory_type"', b'"export_metadata"')],
        _anywhere(SERVICE, "memories"),
    ),
    Export("memorix-npm", [(b'"entityName"',), (b'"narrative"',)], _anywhere(NPM, "observations")),
    Export(
        "engram",
        [(b'"observations"',), (b'"exported_at"',), (b'"session_id"', b'"sessions"')],
        [("observations.item", ENGRAM)],
    ),
    Export(
        "graphiti",
        [(b'"nodes"', b'"edges"'), (b'"summary"', b'"fact"'), (b'"uuid"',)],
        [("nodes.item", NODE), ("edges.item", EDGE)],
    ),
    Export("letta", [(b'"blocks"', b'"limit"'), (b'"label"',)], _anywhere(LETTA, "blocks")),
    Export(
        "mem0",
        [(b'"memory"', b'"memories"'), (b'"user_id"', b'"categories"', b'"hash"', b'"state"')],
        _anywhere(MEM0, "results", "memories"),
        "memories.json",
    ),
)
