"""What the program answers to a query, to hold the viewer's figures against."""

import json


def sql(program, recording, query, a=0, z=0):
    result = program.run("query", "--format", "json", recording, query.format(a=a, z=z))
    assert result.status == 0, result.errors
    (answer,) = json.loads(result.stdout)["tables"]
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row, strict=True)) for row in answer["rows"]]


def length_of(program, recording):
    return program.report(recording, "devices").document["source"]["window_ns"]
