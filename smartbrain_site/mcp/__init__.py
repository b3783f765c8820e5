"""The MCP door: every action as a tool, over stdio and streamable HTTP."""
