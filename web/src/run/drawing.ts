// Draws the time line of a connection: areas below one another, each with the items of one or more lanes.
//
// The server sends the time line in tiles. A tile has for each lane either its items or, where they are too dense, cells
// (`drawing/content.ts`). A second run can be drawn in grey behind the first one. Each kind of drawing has a module.
import { type Area, areasOf, heightOf, RULER } from './areas';
import { stepFor } from './axis';
import { drawBars } from './drawing/bars';
import { itemsOf } from './drawing/content';
import { drawCounts } from './drawing/counts';
import type { Drawn, Frame, Palette } from './drawing/frame';
import { drawLadder } from './drawing/ladder';
import { drawLines } from './drawing/lines';
import { drawMarks, drawTicks } from './drawing/marks';
import { Sketch } from './drawing/sketch';
import { drawShares, drawStrip } from './drawing/strips';
import { drawValues } from './drawing/values';
import type { Pen } from './svgPen';

/** Draws one frame with a pen. */
export function drawFrame(pen: Pen, frame: Frame, palette: Palette): Drawn {
  const sketch = new Sketch(pen, frame, palette);
  const areas = areasOf(frame.head, frame.to - frame.from);
  const height = heightOf(areas);
  drawSpan(sketch, height);
  drawRuler(sketch, height);
  for (const area of areas) {
    pen.save();
    pen.beginPath();
    pen.rect(0, area.y, frame.width, area.height);
    pen.clip();
    drawArea(sketch, area);
    pen.restore();
    sketch.rectangle(0, area.y, frame.width, 1, 'line');
    // The strips have words at their left end.
    const isStrip = area.lanes[0]?.kind === 'share';
    if (frame.hasLabels) sketch.text(area.label, isStrip ? frame.width - 4 : 2, area.y + 11, isStrip ? 'right' : 'left');
  }
  drawTimeouts(sketch, areas);
  drawCursor(sketch, height);
  sketch.drawTexts();
  return { hits: sketch.hits, shapes: sketch.shapes };
}

/** Draws an area by the kind of its lanes, and by whether they have items or cells at this level. */
function drawArea(sketch: Sketch, area: Area): void {
  const [first] = area.lanes;
  if (!first) return;
  if (first.kind === 'maximum') return drawValues(sketch, area);
  const items = itemsOf(sketch.frame, first.name);
  if (area.name === 'ladder') return drawLadder(sketch, area, items);
  if (first.kind === 'share') return items ? drawStrip(sketch, area, first, items) : drawShares(sketch, area, first);
  if (first.draw === 'bar') return drawBars(sketch, area);
  if (!items) return drawCounts(sketch, area);
  if (first.draw === 'line') return drawLines(sketch, area);
  return first.draw === 'mark' ? drawMarks(sketch, area, first, items) : drawTicks(sketch, area, first, items);
}

/** The shaded time. */
function drawSpan(sketch: Sketch, height: number): void {
  const { span } = sketch.frame.marks;
  if (!span) return;
  const x = sketch.xOf(span.from);
  sketch.rectangle(x, RULER, Math.max(2, sketch.xOf(span.to) - x), height, 'sel');
}

function drawRuler(sketch: Sketch, height: number): void {
  const { pen, frame } = sketch;
  const step = stepFor({ from_s: frame.from, to_s: frame.to }, frame.width);
  pen.textAlign = 'center';
  for (let n = Math.ceil(frame.from / step); n * step <= frame.to; n++) {
    const x = sketch.xOf(n * step);
    sketch.rectangle(x, RULER - 4, 1, height, 'grid');
    pen.fillStyle = sketch.palette.colour('mute');
    const label = `${Number((n * step).toPrecision(9))} s`;
    if (x > 20 && x < frame.width - 20) pen.fillText(label, x, 12);
    sketch.shapes++;
  }
}

function drawTimeouts(sketch: Sketch, areas: Area[]): void {
  const area = areas.find(({ name }) => name === 'tcp');
  if (!area) return;
  const { pen } = sketch;
  for (const time of sketch.frame.marks.timeouts) {
    const x = sketch.xOf(time);
    if (x < 0 || x > sketch.frame.width) continue;
    pen.setLineDash([3, 3]);
    sketch.line(x, area.y + 10, x, area.y + area.height, 'rto', 1);
    pen.setLineDash([]);
    sketch.triangle(x, area.y + 11, 5, -9, 'ink');
  }
}

/** A line at the pointer, and its instant in the ruler. */
function drawCursor(sketch: Sketch, height: number): void {
  const { marks, width } = sketch.frame;
  if (marks.cursor === undefined) return;
  sketch.rectangle(sketch.xOf(marks.cursor), RULER, 1, height, 'line2');
  sketch.text(`${marks.cursor.toFixed(4)} s`, width - 4, 12, 'right');
}
