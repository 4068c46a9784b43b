"""Notes as a site to read offline: pages, lists, a search and drawings, all in one folder."""

from memorix.exporters.base import Chosen, Files, Form
from memorix.exporters.site.pages import Site

name = "html"
about = "a site to read offline, with a search and the relations drawn"
form: Form = "folder"
everything = False


def files(chosen: Chosen) -> Files:
    for path, part in Site(chosen).pages():
        yield path, part.encode("utf-8", "replace")
