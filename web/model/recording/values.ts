// The values of one chunk of a counter, from a payload of table "value", in time order. A value holds until the next;
// an absent value is NaN, drawn as a hole and never as 0.

import { fail, ok, type Result } from "../../read/result.ts";
import type { Payload } from "../../read/payload.ts";
import { numbers } from "./slices.ts";

export interface Values {
  length: number;
  time: Float64Array;
  value: Float64Array; // mean of the merged values
  low: Float64Array;
  high: Float64Array;
  bytes: number;
}

export function readValues(payload: Payload): Result<Values> {
  const { rows, columns } = payload;
  const time = numbers(columns.get("time"), rows, NaN);
  for (let row = 0; row < rows; row++)
    if (!(time[row]! >= (row > 0 ? time[row - 1]! : -Infinity)))
      return fail("values: a time is missing or out of order");
  const value = numbers(columns.get("value"), rows, NaN);
  const low = columns.has("low") ? numbers(columns.get("low"), rows, NaN) : value;
  const high = columns.has("high") ? numbers(columns.get("high"), rows, NaN) : value;
  return ok({ length: rows, time, value, low, high, bytes: rows * 32 + 256 });
}
