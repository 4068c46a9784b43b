"""Start the program `memorix`, also as `python -m memorix`."""

import sys

_FLAGS = ("--vault", "--project")


def main() -> None:
    """Run what others wait for by itself, and the rest by the command line, which loads longer."""
    flags, rest = _parted(sys.argv[1:])
    if rest[:1] == ["hook"] and not {"--help", "-h"} & set(rest):
        from memorix.hooks import entry

        entry.main(rest[1:], flags)
        return
    if rest[:1] == ["merge-driver"] and not {"--help", "-h"} & set(rest):
        from memorix import mergedriver

        sys.exit(mergedriver.main(rest[1:]))
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
