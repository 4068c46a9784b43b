"""Start the program `memorix`, also as `python -m memorix`."""

import sys

_FLAGS = ("--vault", "--project")


def main() -> None:
    """Run a hook by itself, and anything else by the command line, which takes longer to load."""
    flags, rest = _parted(sys.argv[1:])
    if rest[:1] == ["hook"] and not {"--help", "-h"} & set(rest):
        from memorix.hooks import entry

        entry.main(rest[1:], flags)
        return
    from memorix.cli.main import main as run

    run()


def _parted(words: list[str]) -> tuple[dict[str, str | None], list[str]]:
    """Return the options before the command, and the rest."""
    flags: dict[str, str | None] = {}
    while words and words[0].partition("=")[0] in _FLAGS:
        name, equals, said = words[0].partition("=")
        value, words = (said, words[1:]) if equals else ("".join(words[1:2]), words[2:])
        flags[name.removeprefix("--")] = value
    return flags, words


if __name__ == "__main__":
    main()
