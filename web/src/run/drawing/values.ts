// Values over time, such as the congestion window.
import type { Area, Lane } from '../areas';
import { type Item, stepsOf } from './content';
import type { Sketch } from './sketch';

/** Units of amounts. On the scale of a sequence number the unit precedes the number. */
const AMOUNTS: Record<string, string> = { B: 'byte', PDU: 'PDUs' };

/** Steps and areas of all lanes on one scale from zero. Cells show the largest value in each. */
export function drawValues(sketch: Sketch, area: Area): void {
  const lanes = area.lanes.map((lane) => ({ lane, items: stepsOf(sketch.frame, lane), secondRun: sketch.frame.other ? stepsOf(sketch.frame, lane, sketch.frame.other) : [] }));
  const all = lanes.flatMap(({ items, secondRun }) => [...items, ...secondRun]);
  if (!all.length) return;
  const unit = area.lanes[0]?.unit ?? '';
  const scale = sketch.scale(area, 0, Math.max(...all.map((item) => item.high)) || 1, AMOUNTS[unit] ?? unit);
  const filled = lanes.filter(({ lane }) => lane.draw === 'filled');
  for (const { lane, items } of filled) drawFilled(sketch, lane, items, scale);
  for (const { lane, secondRun } of lanes) drawSteps(sketch, lane, secondRun, scale, 'ghost');
  for (const { lane, items } of lanes) {
    if (lane.draw !== 'filled') drawSteps(sketch, lane, items, scale, sketch.colourNameOf(lane, 0));
    for (const { row, start, end, high: value } of items) {
      if (row >= 0 && value) sketch.hit(lane.name, row, sketch.xOf(start), scale(value), sketch.xOf(end), scale(value));
    }
  }
}

/** Values as filled areas below a line. */
function drawFilled(sketch: Sketch, lane: Lane, items: Item[], scale: (value: number) => number): void {
  for (const { row, start, end, high: value } of items) {
    sketch.emphasise(lane.name, row);
    const [x, y] = [sketch.xOf(start), scale(value)];
    const width = Math.max(1, sketch.xOf(end) - x);
    sketch.rectangle(x, y, width, scale(0) - y, sketch.colourNameOf(lane, 0));
    sketch.rectangle(x, y, width, 1, 'line2');
  }
  sketch.pen.globalAlpha = 1;
}

/** Values as a step function. */
function drawSteps(sketch: Sketch, lane: Lane, items: Item[], scale: (value: number) => number, colour: string): void {
  if (!items.length) return;
  const { pen } = sketch;
  const isDashed = lane.draw === 'dashed_steps';
  if (isDashed) pen.setLineDash([4, 2]);
  pen.strokeStyle = sketch.palette.colour(colour);
  pen.lineWidth = 1.5;
  pen.beginPath();
  let previousEnd: number | undefined;
  for (const { start, end, high: value } of [...items].sort((a, b) => a.start - b.start)) {
    const [x, y] = [sketch.xOf(start), scale(value)];
    // The line has a gap where there is no value.
    if (previousEnd === undefined || start > previousEnd) pen.moveTo(x, y);
    else pen.lineTo(x, y);
    pen.lineTo(sketch.xOf(end), y);
    previousEnd = end;
    sketch.shapes++;
  }
  pen.stroke();
  if (isDashed) pen.setLineDash([]);
}
