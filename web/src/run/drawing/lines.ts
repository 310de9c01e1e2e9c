// Segments and ACKs, and PDUs, over their numbers.
import type { Area, Lane } from '../areas';
import { type Item, itemsOf, itemsOfSecondRun } from './content';
import type { Sketch } from './sketch';

/** Segments and ACKs as lines over their sequence numbers. The first lane is drawn last, above the others. */
export function drawLines(sketch: Sketch, area: Area): void {
  const lanes = area.lanes.map((lane) => ({ lane, items: itemsOf(sketch.frame, lane.name) ?? [], secondRun: itemsOfSecondRun(sketch.frame, lane) })).reverse();
  const all = lanes.flatMap(({ items, secondRun }) => [...items, ...secondRun]);
  if (!all.length) return;
  const lowest = Math.min(...all.map((item) => item.low));
  const highest = Math.max(...all.map((item) => item.high), lowest + 1);
  const scale = sketch.scale(area, lowest, highest, area.lanes[0]?.unit ?? '');
  for (const { secondRun } of lanes) {
    for (const { start, end, low, high } of secondRun) sketch.line(sketch.xOf(start), scale(low), sketch.xOf(end), scale(high), 'ghost', 1.5);
  }
  for (const { lane, items } of lanes) drawItems(sketch, lane, items, scale);
  sketch.pen.globalAlpha = 1;
}

/** Draws the items of a lane. Retransmissions are drawn last and thicker, so that other segments do not cover them. */
function drawItems(sketch: Sketch, lane: Lane, items: Item[], scale: (value: number) => number): void {
  const isAgain = (item: Item) => sketch.category(lane, item) === 'again';
  for (const item of [...items.filter((segment) => !isAgain(segment)), ...items.filter(isAgain)]) {
    const { row, start, end, low, high, category } = item;
    const belongs = sketch.emphasise(lane.name, row);
    const isLost = sketch.category(lane, item) === 'lost';
    const [x0, x1, y0, y1] = [sketch.xOf(start), sketch.xOf(end), scale(low), scale(high)];
    const isSingleValue = low === high;
    const colour = isLost ? 'line2' : sketch.colourNameOf(lane, category);
    const thickness = isAgain(item) ? 2.5 : isSingleValue ? 1 : 1.5;
    sketch.line(x0, y0, x1, y1, colour, belongs ? thickness + 1 : thickness);
    // The range of numbers, at the start.
    if (!isSingleValue) sketch.line(x0, y0 + 2, x0, y1 - 2, colour, 1);
    if (isLost) sketch.cross(x1, y1);
    sketch.hit(lane.name, row, x0, y0, x1, y1);
  }
}
