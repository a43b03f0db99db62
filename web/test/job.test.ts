// The page of a job without a browser: reading its data, orders, down-scaling, scales, colours, bars.

import assert from "node:assert/strict";
import test from "node:test";
import { jobColors } from "../draw/heat_colors.ts";
import { contrast, DARK, LIGHT } from "../draw/theme.ts";
import { barsOf, heatMap, lineOf, placeHeat, placePart, worstIn, type HeatInput } from "../layout/heat_map.ts";
import { HeatScale, quantityText } from "../layout/heat_scale.ts";
import { lineLabels } from "../layout/heat_labels.ts";
import { barAt, criticalTime, placeWaterfall, xOf } from "../layout/waterfall.ts";
import { lostRanks, readJob, whyLost, type Job, type Quantity } from "../model/job/job.ts";
import { rowsBy, sectionOf } from "../model/job/job_order.ts";
import { readStep, spanAt } from "../model/job/step_bars.ts";

const MS = 1_000_000;

const RANGE = { doc: "", quantum: 10, least: 1, low: 1, middle: 2, high: 3, most: 4 };
const PRICE = { cost_ns: 5 * MS, alone_ns: 5 * MS };

/** Four ranks in three steps; rank 2 is missing, rank 3 is cut after step 10. */
const ABOUT = {
  steps: [10, 11, 12],
  longest_ns: [100 * MS, 120 * MS, 110 * MS],
  parts: ["compute", "wait"],
  hosts: ["b", "a", null],
  ranks: {
    rank: [0, 1, 2, 3], host: [0, 1, 2, 0], peers: [2, 1, null, 1], status: ["whole", "whole", "missing", "cut"],
    reason: [null, null, "no file", "ends early"], file: ["r0.json", "'r 1.json'", null, "r3.json"],
  },
  recorded: [6, 3, 1, 2],
  quantities: [{ name: "compute", title: "Compute", unit: "ns", low_is_bad: false, compares: false, ...RANGE }],
  units: [
    { unit: "rank 1", cause: "slow GPU", named: true, cost_ns: 0, alone_ns: 9 * MS, ranks: [1], worst: [1, 2] },
    { unit: "rank 0", cause: "late data", named: true, ...PRICE, ranks: [0, 99], worst: [99, 0] },
  ],
  step_ns: 100 * MS,
};
const job = (): Job => readJob(JSON.stringify(ABOUT));

test("a job is read, and what does not fit is omitted", () => {
  const { ranks, recorded, units } = job();
  assert.deepEqual(ranks.map(({ host }) => host), ["b", "a", null, "b"]);
  assert.deepEqual([...recorded], [1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0]);
  assert.deepEqual(units[1]!.ranks, [0]);
  assert.equal(units[1]!.worst, null);
  assert.throws(() => readJob(JSON.stringify({ ...ABOUT, recorded: [6] })), /6 cells instead of 12/);
  const many = Array(5000).fill(1);
  assert.throws(() => readJob(JSON.stringify({ steps: many, ranks: { rank: many } })), /too large/);
  assert.deepEqual(readJob("{}").ranks, []);
});

test("lost cells say why", () => {
  const lost = [...lostRanks(job())].map(([status, ranks]) => [status, ranks.length]);
  assert.deepEqual(lost, [["missing", 1], ["cut", 1]]);
  assert.equal(whyLost(job(), 2, 0), "missing: no file");
  assert.equal(whyLost(job(), 3, 1), "not recorded: the file is cut");
  assert.equal(whyLost(job(), 0, 0), "unknown");
});

test("orders of ranks", () => {
  const order = (by: Parameters<typeof rowsBy>[1]) => [...rowsBy(job(), by)];
  assert.deepEqual(order("rank"), [0, 1, 2, 3]);
  assert.deepEqual(order("host"), [0, 3, 1, 2]); // hosts by their first rank
  assert.deepEqual(order("peers"), [1, 3, 0, 2]);
  assert.deepEqual(order("price"), [0, 1, 2, 3]); // 5 ms now, then 9 ms alone
  assert.equal(sectionOf(job(), "host", 2), "host unknown");
  assert.equal(sectionOf(job(), "peers", 1), "peers 1");
});

function input(ranks: number, steps: number, lowIsBad = false): HeatInput {
  const rows = Uint32Array.from({ length: ranks }, (_, i) => i);
  return { cells: new Float64Array(ranks * steps).fill(1), stride: steps, first: 0, rows, steps, lowIsBad };
}
const shade = (value: number) => Math.min(255, Math.max(1, value));

test("a part of a job has larger cells in a picture of the same size", () => {
  const whole = placeHeat(700, 440, 8, 20);
  assert.deepEqual(whole, { columns: 20, lines: 8, cellWidth: 35, cellHeight: 20 });
  assert.deepEqual(placePart(whole, 8, 20), whole);
  assert.deepEqual(placePart(whole, 4, 5), { columns: 5, lines: 4, cellWidth: 140, cellHeight: 40 });
  const large = placeHeat(700, 440, 1000, 2000); // a pixel for several
  assert.deepEqual(placePart(large, 1000, 2000), large);
  assert.deepEqual(placePart(large, 20, 2000), { columns: 700, lines: 20, cellWidth: 1, cellHeight: 22 });
});

test("a bad cell is visible however small the picture is", () => {
  for (const lowIsBad of [false, true]) {
    const matrix = input(10_000, 100, lowIsBad);
    matrix.cells[7777 * 100 + 42] = lowIsBad ? -200 : 200;
    const place = placeHeat(50, 300, 10_000, 100);
    assert.deepEqual([place.lines, place.columns, place.cellHeight], [300, 50, 1]);
    const map = heatMap(matrix, place, (value) => (lowIsBad ? shade(-value) : shade(value)));
    const at = [...map.shades.keys()].filter((bin) => map.shades[bin] === 200);
    assert.equal(at.length, 1);
    const [line, column] = [Math.floor(at[0]! / 50), at[0]! % 50];
    assert.deepEqual(worstIn(matrix, place, line, column), { place: 7777, step: 42 });
    assert.equal(lineOf(7777, 10_000, place), line);
  }
});

test("every cell of the picture stands for cells of the matrix", () => {
  for (const [rows, lines] of [[7, 3], [10, 10], [301, 300], [5, 9]] as const) {
    const place = placeHeat(4, lines, rows, 4);
    const map = heatMap(input(rows, 4), place, shade);
    assert.ok(map.shades.every((each) => each === 1));
    assert.equal(new Set(Array.from({ length: rows }, (_, i) => lineOf(i, rows, place))).size, place.lines);
  }
});

test("lost cells are 0, and marked where a neighbour covers them", () => {
  const matrix = input(6, 4);
  matrix.cells.fill(NaN, 2 * 4, 4 * 4); // rows 2 and 3: a whole line of the picture
  matrix.cells[5 * 4 + 3] = NaN; // covered by row 4
  const map = heatMap(matrix, placeHeat(4, 3, 6, 4), shade);
  assert.deepEqual([...map.shades], [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]);
  assert.deepEqual([...map.lineLost], [0, 1, 1]);
  assert.deepEqual([...map.columnLost], [1, 1, 1, 1]);
  assert.ok(Number.isNaN(map.lineMeans[1]!));
  assert.deepEqual([...barsOf(map.lineMeans, false, 0)], [1, 0, 1]);
});

const QUANTITY: Quantity = {
  name: "excess", title: "", doc: "", unit: "ns", quantum: 1, lowIsBad: false, compares: true, least: -MS, low: -MS / 2,
  middle: 0, high: 9 * MS, most: 80 * MS,
};

test("the scale grows with badness, and does not magnify noise", () => {
  const scale = new HeatScale(QUANTITY, 100 * MS);
  const shades = [-MS, 0, MS, 10 * MS, 80 * MS].map((value) => scale.shade(value));
  assert.deepEqual(shades, [...shades].sort((a, b) => a - b));
  assert.deepEqual([shades[0], shades[4]], [1, 255]);
  assert.ok(shades[3]! > 100, "an eighth of the worst is not hidden");
  for (const part of [0, 0.25, 0.5, 1]) assert.ok(Math.abs(scale.shade(scale.valueAt(part)) - 1 - 254 * part) <= 1);
  const noise = new HeatScale({ ...QUANTITY, high: MS / 2, most: MS / 2 }, 100 * MS);
  assert.ok(noise.shade(MS / 2) < 64);
  const values = { least: 1200, low: 1900, middle: 1970, high: 1980, most: 1980 };
  const quantity = { ...QUANTITY, unit: "MHz", compares: false, lowIsBad: true, ...values };
  const clock = new HeatScale(quantity, 100 * MS);
  assert.ok(clock.shade(1200) === 255 && clock.shade(1980) === 1 && clock.shade(1500) > clock.shade(1900));
});

test("values have signs where they compare, and units", () => {
  assert.equal(quantityText(2 * MS, QUANTITY), "+2.00 ms");
  assert.equal(quantityText(1980, { ...QUANTITY, unit: "MHz", compares: false }), "1,980 MHz");
  assert.equal(quantityText(NaN, QUANTITY), "unknown");
});

const ROUNDING = 0.06; // of colours to 8 bits, in contrasts

test("every drawn colour has a contrast of 3:1 with its ground", () => {
  for (const theme of [LIGHT, DARK]) {
    const { shades, hatch, parts } = jobColors(theme);
    for (const color of [...shades.slice(1), hatch, ...parts.values()])
      assert.ok(contrast(color, theme.ground) >= 3, `${color}: ${contrast(color, theme.ground)}`);
    const grounds = shades.slice(1).map((color) => contrast(color, theme.ground));
    assert.ok(grounds.every((each, i) => each > (grounds[i - 1] ?? 0) - ROUNDING), "lightness tells the order");
    assert.ok(contrast(shades[1]!, shades[255]!) >= 3);
  }
});

test("labels do not touch each other", () => {
  const place = placeHeat(300, 400, 4, 3);
  const labels = lineLabels(job(), rowsBy(job(), "host"), "host", place, 1);
  assert.deepEqual(labels.map(({ text }) => text), ["b", "a", "host unknown"]);
  const many: Job = { ...job(), ranks: Array.from({ length: 1000 }, (_, rank) => ({ ...job().ranks[0]!, rank })) };
  const dense = placeHeat(300, 400, 1000, 3);
  const lines = lineLabels(many, rowsBy(many, "rank"), "rank", dense, 1).map(({ line }) => line);
  assert.ok(lines.every((line, i) => i === 0 || line - lines[i - 1]! >= 14));
});

const STEP = {
  bars: [
    { rank: 1, why: "all", start_ns: 5, clock_error_ns: 2.5, spans: [10, 0, 20, 1, 5, 7], sums_ns: [10, 20] },
    { rank: 0, why: "all", start_ns: 0, clock_error_ns: null, spans: [40, 0], sums_ns: [40, 0] }, { rank: 44 },
  ],
  path: [[1, 5, 15, 0], [0, 15, 40, 1], [44, 0, 1, 0]],
};

test("bars of a step, and what is under the pointer", () => {
  const picture = readStep(JSON.stringify(STEP), 4, 2);
  assert.deepEqual([picture.bars.length, picture.path.length, picture.from, picture.to], [2, 2, 0, 40]);
  const [bar] = picture.bars;
  assert.deepEqual([bar!.starts, bar!.end], [[5, 15], 35]); // the span of an unknown part is omitted
  assert.deepEqual([4, 5, 14, 15, 34, 35].map((time) => spanAt(bar!, time)), [-1, 0, 0, 1, 1, -1]);
  const fall = placeWaterfall(picture, Uint32Array.of(0, 1, 2, 3), 500, 88);
  assert.deepEqual(fall.bars.map(({ rank }) => rank), [0, 1]);
  const found = barAt(fall, xOf(fall, 16), fall.top + fall.pitch * 1.5);
  assert.deepEqual([found?.bar.rank, found?.span], [1, 1]);
  assert.equal(barAt(fall, 100, 2), null);
  assert.deepEqual([criticalTime(picture, 1), criticalTime(picture, 0)], [10, 0]);
  assert.deepEqual(readStep("[]", 4, 2).bars, []);
});
