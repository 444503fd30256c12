"""`rexmit mcp`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit import extras
from rexmit.cli.ending import ANSWER
from rexmit.cli.values import memory

MCP = """\
The same answers for an assistant: a server of the Model Context Protocol over standard input and output
(docs/mcp.md). It reads below the folders that it is given and writes below one, and nowhere else. Needs the
package mcp, which the extra mcp of rexmit brings.
"""
EXAMPLES = """\
examples:
  rexmit mcp captures                                   read below ./captures
  rexmit mcp captures runs --write results              and write below ./results

exit codes: 0 the assistant has ended, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    m = commands.add_parser(
        "mcp",
        help="serve answers to an assistant (Model Context Protocol)",
        description=MCP,
        epilog=EXAMPLES,
    )
    m.add_argument("folders", nargs="+", metavar="DIR", help="a folder below which it may read")
    m.add_argument("--write", metavar="DIR", help="the folder below which it may write (default: none)")
    m.add_argument(
        "--max-memory",
        type=memory,
        metavar="SIZE",
        help="what one answer may take, such as 2GB (default: three quarters of what is free)",
    )


def run(o: argparse.Namespace) -> int:
    """Serves until the assistant ends. Raises ValueError for what is no folder, and without the package."""
    from rexmit.assistant.folders import Folders

    folders = Folders(o.folders, o.write)
    extras.need("mcp", "rexmit mcp")
    from rexmit.assistant.server import serve

    serve(folders, o.max_memory)
    return ANSWER
