"""Run the command line: `python -m memorix`."""

from memorix.cli.main import main

if __name__ == "__main__":
    main()
