// The shown part of a heat map without a browser: zoom, pan, boxes, gestures and keys.

import assert from "node:assert/strict";
import test from "node:test";
import { contains, heatBetween, heatIn, heatText, heatWith, movedHeat, partOf } from "../model/job/heat_window.ts";
import { readHeat, wholeHeat, zoomedHeat, type HeatWindow } from "../model/job/heat_window.ts";
import { anchorOf, HeatDrag, pinchedHeat, pointAt, pressedZoom, wheeled } from "../view/job/heat_gestures.ts";
import type { HeatView } from "../view/job/heat_gestures.ts";

const WHOLE = wholeHeat(100, 20);
const part = (a: number, b: number, c: number, d: number): HeatWindow =>
  ({ ranks: { from: a, to: b }, steps: { from: c, to: d } });

/** Numbers from 0 to 1 that are the same in every run. */
function* random(): Generator<number, never> {
  for (let seed = 7; ; ) yield (seed = (seed * 48271) % 2147483647) / 2147483647;
}

test("whatever is asked for, a window is whole cells of the job", () => {
  const numbers = random();
  const any = (from: number, to: number) => from + (to - from) * numbers.next().value;
  for (let i = 0; i < 2000; i++) {
    const whole = wholeHeat(1 + Math.floor(any(0, 300)), 1 + Math.floor(any(0, 40)));
    let window = heatIn(i % 3 === 0 ? null : part(any(-9, 400), any(-9, 400), any(-9, 60), any(-9, 60)), whole);
    for (let move = 0; move < 5; move++) {
      const at = { place: any(-50, 400), step: any(-50, 80) };
      window = [
        zoomedHeat(window, whole, any(0.1, 4), at),
        movedHeat(window, whole, at),
        heatBetween(at, { place: any(0, 300), step: any(0, 40) }, whole),
        heatWith(window, whole, { place: 0, step: 0 }),
      ][move % 4]!;
      for (const axis of ["ranks", "steps"] as const) {
        const { from, to } = window[axis];
        const count = whole[axis].to;
        assert.ok(Number.isInteger(from) && Number.isInteger(to), heatText(window));
        assert.ok(from >= 0 && to <= count && to - from >= Math.min(4, count), `${heatText(window)} of ${count}`);
      }
    }
  }
});

test("a zoom keeps the cell at its point, and reaches both ends", () => {
  const at = { place: 30.5, step: 4.5 };
  let window = WHOLE;
  for (let i = 0; i < 12; i++) {
    const before = window;
    window = zoomedHeat(window, WHOLE, 0.8, at);
    assert.ok(contains(window.ranks, 30) && contains(window.steps, 4), heatText(window));
    const [was, is] = [before, window].map(({ ranks }) => (at.place - ranks.from) / (ranks.to - ranks.from));
    const size = window.ranks.to - window.ranks.from;
    assert.ok(Math.abs(was! - is!) <= 0.5 / size + 1e-9, `${was} ${is}`);
  }
  assert.deepEqual([window.ranks.to - window.ranks.from, window.steps.to - window.steps.from], [5, 4]);
  for (let i = 0; i < 40; i++) window = zoomedHeat(window, WHOLE, 1.01, at); // a cell at a time at least
  assert.deepEqual([window.ranks.to - window.ranks.from, window.steps.to - window.steps.from], [45, 20]);
  for (let i = 0; i < 60; i++) window = zoomedHeat(window, WHOLE, 1.01, at);
  assert.equal(partOf(window, WHOLE), null);
});

test("a box shows the cells that it touches, and no others", () => {
  assert.deepEqual(heatBetween({ place: 10.2, step: 12.9 }, { place: 17.5, step: 3.1 }, WHOLE), part(10, 18, 3, 13));
  const fromOutside = heatBetween({ place: -5, step: -2 }, { place: 7.5, step: 5.5 }, WHOLE);
  assert.deepEqual(fromOutside, part(0, 8, 0, 6));
  const small = heatBetween({ place: 50.5, step: 18.2 }, { place: 50.6, step: 18.3 }, WHOLE);
  assert.deepEqual(small, part(49, 53, 16, 20));
});

test("a selected cell is brought into view by the least move", () => {
  const window = part(10, 20, 5, 10);
  assert.deepEqual(heatWith(window, WHOLE, { place: 15, step: 7 }), window);
  assert.deepEqual(heatWith(window, WHOLE, { place: 20, step: 4 }), part(11, 21, 4, 9));
  assert.deepEqual(heatWith(window, WHOLE, { place: 99, step: 19 }), part(90, 100, 15, 20));
});

test("a window is read as it is written, and no other text is", () => {
  assert.deepEqual(readHeat(heatText(part(8, 16, 0, 5))), part(8, 16, 0, 5));
  const huge = "9999999999-99999999999,0-1";
  for (const text of ["", "1-2", "5-5,0-1", "2-1,0-1", "-1-2,0-1", "1.5-2,0-1", "1-2,0-1,", huge])
    assert.equal(readHeat(text), null, text);
});

const view = (window: HeatWindow): HeatView => ({ window, whole: WHOLE, cell: { width: 10, height: 5 } });

test("a drag marks a box while all is shown or with Shift, and else pans", () => {
  const shown: [HeatWindow, boolean][] = [];
  let boxes = 0;
  const show = (window: HeatWindow, isStep: boolean) => shown.push([window, isStep]);
  const drag = new HeatDrag(() => ({ show, mark: (box) => (boxes += box === null ? 0 : 1) }));
  const pull = (from: HeatView, shift: boolean, to: { x: number; y: number }) => {
    drag.begin(from, { x: 20, y: 20 }, shift);
    drag.move(to);
    drag.end(to);
  };
  pull(view(WHOLE), false, { x: 99, y: 99 });
  assert.deepEqual(shown.splice(0), [[part(4, 20, 2, 10), true]]);
  pull(view(part(40, 60, 5, 15)), true, { x: 79, y: 70 });
  assert.deepEqual(shown.splice(0), [[part(44, 54, 7, 13), true]]);
  assert.equal(boxes, 2);
  pull(view(part(40, 60, 5, 15)), false, { x: 50, y: 5 });
  assert.deepEqual(shown.splice(0), [[part(43, 63, 2, 12), false]]); // the cell stays below the pointer
  assert.equal(boxes, 2);
  pull(view(WHOLE), false, { x: 21, y: 22 });
  assert.deepEqual([shown.length, drag.hasMoved], [0, false]); // a click
});

const wheel = (change: Partial<WheelEvent>): WheelEvent =>
  ({ ctrlKey: false, metaKey: false, shiftKey: false, deltaX: 0, deltaY: 0, deltaMode: 0, ...change }) as WheelEvent;

test("the wheel zooms with Ctrl, moves over steps sideways, and is the page's otherwise", () => {
  const close = view(part(40, 60, 5, 15));
  const spot = { x: 35, y: 52 };
  const { place, step } = pointAt(close, spot);
  const zoomed = wheeled(close, wheel({ ctrlKey: true, deltaY: -100 }), spot)!;
  assert.ok(contains(zoomed.ranks, Math.floor(place)) && contains(zoomed.steps, Math.floor(step)));
  assert.ok(zoomed.ranks.to - zoomed.ranks.from < 20);
  assert.deepEqual(wheeled(close, wheel({ shiftKey: true, deltaY: 20 }), spot), part(40, 60, 7, 17));
  assert.deepEqual(wheeled(close, wheel({ deltaX: -1 }), spot), part(40, 60, 4, 14));
  assert.equal(wheeled(close, wheel({ deltaY: 100 }), spot), null);
  assert.equal(wheeled(view(WHOLE), wheel({ deltaX: 100 }), spot), null); // nowhere to move
});

const key = (key: string, change: Partial<KeyboardEvent> = {}): KeyboardEvent =>
  ({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...change }) as KeyboardEvent;

test("keys zoom around the selected cell, or the middle where it is not shown", () => {
  const close = view(part(40, 60, 4, 16));
  const cell = { place: 41, step: 14 };
  for (const name of ["+", "=", "w", "W"]) {
    const { ranks, steps } = pressedZoom(close, key(name), cell)!;
    assert.ok(contains(ranks, 41) && contains(steps, 14) && ranks.to - ranks.from === 10);
  }
  assert.deepEqual(pressedZoom(close, key("+"), { place: 0, step: 0 }), part(45, 55, 7, 13));
  assert.deepEqual(anchorOf(close.window, { place: 0, step: 0 }), { place: 50, step: 10 });
  assert.deepEqual(pressedZoom(close, key("d"), cell), part(40, 60, 7, 19));
  assert.deepEqual(pressedZoom(close, key("ArrowUp", { shiftKey: true }), cell), part(35, 55, 4, 16));
  assert.deepEqual(pressedZoom(close, key("0"), cell), WHOLE);
  assert.equal(pressedZoom(close, key("ArrowUp"), cell), null);
  assert.equal(pressedZoom(close, key("+", { ctrlKey: true }), cell), null); // the browser's zoom
});

test("what two fingers touch stays below them", () => {
  const view: HeatView = { window: part(20, 60, 0, 20), whole: WHOLE, cell: { width: 10, height: 5 } };
  const fingers = (a: number, b: number, y: number) => [{ x: a, y }, { x: b, y }] as const;
  const apart = pinchedHeat(view, fingers(80, 120, 100), fingers(60, 140, 100));
  assert.deepEqual(apart, part(30, 50, 5, 15));
  const close: HeatView = { ...view, window: apart, cell: { width: 20, height: 10 } };
  assert.deepEqual(pinchedHeat(close, fingers(60, 140, 100), fingers(80, 120, 100)), view.window);
  const moved = pinchedHeat(view, fingers(50, 90, 50), fingers(50, 90, 25));
  assert.deepEqual(moved, part(25, 65, 0, 20));
  const one = pinchedHeat(view, [{ x: 50, y: 50 }, { x: 50, y: 50 }], [{ x: 50, y: 50 }, { x: 50, y: 50 }]);
  assert.deepEqual(one, view.window);
});
