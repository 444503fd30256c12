"""The same answers for an assistant: a Model Context Protocol server (`rexmit mcp`, docs/mcp.md)."""
