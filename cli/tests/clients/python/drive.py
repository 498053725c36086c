"""Drives a server through the official Python SDK: does what the plan asks and prints a report of what came back.

usage: drive.py PLAN, both the plan and the report as clients/plan.rs describes them
"""

import json
import sys

import anyio
from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client


async def outcome(answer):
    try:
        result = await answer
    except MCPError as error:
        return {"code": error.error.code}
    return {"text": result.content[0].text, "is_error": bool(result.is_error)}


async def interrupted(client, plan):
    """Takes a call back while it is being worked on, once another one has been answered beside it."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outcome, client.call_tool(plan["wait"]["tool"], plan["wait"]["arguments"]))
            await anyio.sleep(plan["pause_ms"] / 1000)
            meanwhile = await outcome(client.call_tool(plan["meanwhile"]["tool"]))
            scope.cancel()
    await client.send_ping()
    return meanwhile


async def prompts(client):
    if client.server_capabilities.prompts is None:
        return []
    told = []
    for prompt in (await client.list_prompts()).prompts:
        message = (await client.get_prompt(prompt.name)).messages[0]
        told.append({"name": prompt.name, "role": message.role, "text": message.content.text})
    return told


async def drive(plan):
    server = StdioServerParameters(command=plan["command"], args=plan["args"], env=plan["env"])
    async with Client(server, mode="auto") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        report = {"server": client.server_info.name, "tools": tools}
        report["calls"] = [await outcome(client.call_tool(call["tool"], call["arguments"])) for call in plan["calls"]]
        report["prompts"] = await prompts(client)
        report["meanwhile"] = await interrupted(client, plan) if plan["wait"]["tool"] in tools else None
    print(json.dumps(report))


with open(sys.argv[1], encoding="utf-8") as file:
    anyio.run(drive, json.load(file))
