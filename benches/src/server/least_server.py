"""The least a server through the official Python SDK can be: one tool that answers with a constant."""

from mcp.server import MCPServer

server = MCPServer("least")


@server.tool()
def status() -> str:
    """Nothing is being recorded."""
    return '{"live":null,"awaiting_transcript":0,"sessions":0}'


server.run("stdio")
