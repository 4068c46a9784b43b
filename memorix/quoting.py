"""Put what notes say between fences that nothing in them can close."""


def fenced(text: str, about: str) -> str:
    """Put a text between lines of more backticks than it has anywhere in a row."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{about}\n{text}\n{fence}"
