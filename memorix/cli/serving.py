"""The commands that serve hosts: over stdio or HTTP, and the tokens for HTTP."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix.cli.frame import AsJson, opened, settings, shown

if TYPE_CHECKING:
    from memorix.tokens import TokenFile

app = typer.Typer()
tokens = typer.Typer(help="Tokens for clients of the HTTP server.", no_args_is_help=True)

PORT = 7878

MOST = 5
# Of the notes that were shown most.


@app.command()
def serve(
    http: Annotated[bool, typer.Option("--http", help="Serve many clients over HTTP.")] = False,
    sse: Annotated[bool, typer.Option("--sse", help="HTTP, with SSE for older clients.")] = False,
    host: Annotated[str, typer.Option(help="The address to serve.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = PORT,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every program on this machine in.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name this server is known by, as behind a proxy.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A site whose pages may use it: https://a.example")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate chain in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key in PEM.")] = None,
    oauth_issuer: Annotated[
        str, typer.Option(help="An authorization server whose tokens (JWT) are taken.")
    ] = "",
    oauth_keys: Annotated[
        Path | None, typer.Option(help="Its public keys (JWKS), instead of asking it.")
    ] = None,
    public_url: Annotated[
        str, typer.Option(help="The URL clients use, which its tokens name as audience.")
    ] = "",
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds a client may take to send or to read.")
    ] = 20.0,
) -> None:
    """Serve the MCP tools over stdin and stdout, which is what a host runs; or over HTTP."""
    if not (http or sse):
        from memorix.server.app import serve_stdio

        return serve_stdio(settings())
    from memorix.server import http as server
    from memorix.server import oauth

    issuer = oauth.Issuer(oauth_issuer, public_url, oauth_keys) if oauth_issuer else None
    options = server.Options(
        host=host,
        port=port,
        sse=sse,
        open_to_all=no_token,
        hosts=tuple(name.lower() for name in allow_host or ()),
        origins=tuple(origin.rstrip("/") for origin in allow_origin or ()),
        certificate=tls_cert,
        key=tls_key,
        timeout_s=timeout,
        issuer=issuer,
    )
    server.serve(settings(), token_file(), options)


@app.command()
def usage(
    days: Annotated[int, typer.Option(min=1, max=400, help="Up to today.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show what each host did with the memory; counted on this machine, told nobody."""
    from dataclasses import asdict

    from memorix import usage as counted
    from memorix.capturing import count_uses

    count_uses()
    first = counted.since(datetime.now(UTC), days)
    with opened(catch_up=False) as memory:
        hosts = counted.by_host(memory.index.uses(first))
        most = [(one, memory.index.find(one.id)) for one in memory.index.most_shown(first, MOST)]
    data = {
        "since": first.isoformat(),
        "hosts": [asdict(host) for host in hosts],
        "most_shown": [asdict(one) | {"title": row.title} for one, row in most if row],
    }
    titled = [(row.title, one) for one, row in most if row]
    shown(data, "\n".join(counted.lines(first, hosts, titled)), as_json)


@tokens.command()
def add(
    name: Annotated[str, typer.Argument(help="Who will use it, such as laptop.")],
    read: Annotated[bool, typer.Option("--read", help="It may read.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="It may read and write (default).")
    ] = False,
    admin: Annotated[bool, typer.Option("--admin", help="It may erase, too.")] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", "-s", help="Only this scope: user or a project; repeatable."),
    ] = None,
    expires: Annotated[str, typer.Option(help="A day, or a span such as 90d.")] = "",
) -> None:
    """Make a token and print it; it is shown this once."""
    import sys

    from memorix.access import Access, Right, is_plain
    from memorix.arguments import expiry_from
    from memorix.errors import InvalidRequest

    chosen = [right for right, on in zip(Right, (read, write, admin), strict=True) if on]
    odd = [text for text in scope or () if not is_plain(text)]
    if len(chosen) > 1 or odd:
        raise InvalidRequest(
            f"{odd[0]!r} is no scope. Use user or a project's name."
            if odd
            else "Choose one of --read, --write and --admin; each holds those before it."
        )
    now = datetime.now(UTC)
    access = Access(name, chosen[0] if chosen else Right.WRITE, frozenset(scope or ()))
    secret = token_file().add(access, now, expiry_from(expires, now))
    print(secret)
    sys.stderr.write(
        f"memorix: keep it now, it is not shown again. Revoke it: token revoke {name}\n"
    )


@tokens.command("list")
def list_tokens(as_json: AsJson = False) -> None:
    """Show the tokens, without their secrets."""
    rows: list[dict[str, Any]] = [
        {
            "name": token.access.name,
            "right": str(token.access.right),
            "scopes": sorted(token.access.scopes),
            "created": token.created.isoformat(timespec="seconds"),
            "expires": token.expires.isoformat(timespec="seconds") if token.expires else "",
            "valid": token.is_valid(datetime.now(UTC)),
        }
        for token in token_file().all()
    ]
    lines = [
        f"{row['name']:16} {row['right']:6} {', '.join(row['scopes']) or 'all scopes'}"
        f"{', until ' + row['expires'] if row['expires'] else ''}"
        f"{'' if row['valid'] else ', expired'}"
        for row in rows
    ]
    shown(rows, "\n".join(lines) or "There are no tokens.", as_json)


@tokens.command()
def revoke(name: Annotated[str, typer.Argument(help="As `memorix token list` shows it.")]) -> None:
    """Take a token out of force, at once."""
    token_file().revoke(name)
    print(f"{name} is revoked.")


def token_file() -> "TokenFile":
    from memorix.config import config_path
    from memorix.tokens import TokenFile

    return TokenFile(config_path().parent / "tokens.json")
