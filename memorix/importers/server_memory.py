"""The knowledge graph of the MCP reference memory server: JSON Lines of entities and relations.

An entity becomes a note with its observations as a list; a relation stands in the note it leads
from.  The file has no dates and no authors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memorix.imported import Record, Relation, Unreadable
from memorix.importers.base import NO, SURE, first_object, items, json_lines, text

name = "mcp-memory"


def detect(source: Path) -> float:
    found = first_object(source) if source.is_file() else {}
    entity = found.get("type") == "entity" and "entityType" in found
    relation = found.get("type") == "relation" and "relationType" in found
    return SURE if entity or relation else NO


def read(source: Path) -> Iterator[Record | Unreadable]:
    """Yield entities, the last of a name.

    A relation may stand before or after them, so that the file is read twice: first for relations
    and the lines on which the entities stand, then entity by entity.
    """
    places: dict[str, str] = {}
    relations: dict[str, list[Relation]] = {}
    for line in json_lines(source):
        if isinstance(line, Unreadable):
            yield line
        elif problem := _sorted_in(*line, places, relations):
            yield problem
    for line in json_lines(source):
        if not isinstance(line, Unreadable) and line[1].get("type") == "entity":
            where, entity = line
            name = text(entity.get("name"))
            if places.get(name) == where:
                yield _record(entity, relations.pop(name, []))
    for start, loose in relations.items():
        yield Record(start, start, "", "Entity", relations=tuple(loose))


def _sorted_in(
    where: str,
    line: Mapping[str, Any],
    places: dict[str, str],
    relations: dict[str, list[Relation]],
) -> Unreadable | None:
    if line.get("type") == "entity" and text(line.get("name")).strip():
        places[text(line["name"])] = where
        return None
    start, end = text(line.get("from")), text(line.get("to"))
    if line.get("type") == "relation" and start and end:
        kind = text(line.get("relationType"))
        relations.setdefault(start, []).append(Relation(kind, end, end))
        return None
    return Unreadable(
        where, "it is neither an entity with a name nor a relation from one to another"
    )


def _record(entity: Mapping[str, Any], relations: list[Relation]) -> Record:
    said = [text(observation).strip() for observation in items(entity.get("observations"))]
    body = "\n".join(
        "- " + observation.replace("\n", "\n  ") for observation in said if observation
    )
    entity_type = text(entity.get("entityType")).strip()
    return Record(
        key=text(entity["name"]),
        title=text(entity["name"]),
        body=body,
        type=entity_type or "Entity",
        relations=tuple(relations),
    )
