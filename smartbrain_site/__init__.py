"""The assembled product: settings, urls, and the HTTP, MCP, command-line and in-process doors."""
