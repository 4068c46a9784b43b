"""The MCP server: `tools` are what an assistant calls, `resources` what a host shows, `schemas`
their shapes, `background` what runs beside the answers."""
