"""A session with `gpu-profile mcp` through the SDK's own client, for tests that are not asynchronous."""

import contextlib
import json
import os
import sys


def environment(**more):
    """The SDK passes on few variables, so what finds the package and the program is named."""
    names = ("GPUPROF_BIN", "GPUPROF_LIBRARY", "PYTHONPATH", "PATH", "TMPDIR")
    return {**{name: os.environ[name] for name in names if name in os.environ}, "GPUPROF_PYTHON": sys.executable, **more}


class Session:
    def __init__(self, portal, client):
        self.portal, self.client = portal, client

    @property
    def instructions(self):
        return self.client.instructions

    def tools(self):
        return self.portal.call(self.client.list_tools).tools

    def text(self, tool, **arguments):
        """The answer as it was sent, and whether it is an error."""
        result = self.portal.call(self.client.call_tool, tool, arguments)
        (content,) = result.content
        return content.text, bool(result.is_error)

    def ask(self, tool, **arguments):
        """The answer; an error fails the test."""
        text, is_error = self.text(tool, **arguments)
        assert not is_error, text
        return json.loads(text)

    def refused(self, tool, **arguments):
        """The exit code and the line of an error."""
        text, is_error = self.text(tool, **arguments)
        assert is_error, text
        document = json.loads(text)
        assert set(document) == {"error", "exit_code"} and "\n" not in document["error"]
        return document["exit_code"], document["error"]

    def together(self, *calls):
        """The texts of calls that are made at once."""
        futures = [self.portal.start_task_soon(self.client.call_tool, tool, arguments) for tool, arguments in calls]
        return [future.result().content[0].text for future in futures]


@contextlib.contextmanager
def session(program, *words, **variables):
    from anyio.from_thread import start_blocking_portal  # the SDK takes a second, which not every process that collects tests should
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(command=str(program.path), args=["mcp", *map(str, words)], env=environment(**variables))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield Session(portal, client)


def rows(document, name):
    """The rows of a table of an answer, by column."""
    (table,) = [each for each in document["data"]["tables"] if each["name"] == name]
    columns = [column["name"] for column in table["columns"]]
    return [dict(zip(columns, row, strict=True)) for row in table["rows"]]
