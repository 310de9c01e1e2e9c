// Bars from the start to the end of items, such as SDUs and timers.
import type { Area, Lane } from '../areas';
import { type Item, itemsOf } from './content';
import { drawCounts } from './counts';
import type { Sketch } from './sketch';

/** Height of a row of bars. */
const BAR_ROW = 8;

/** Bars: one lane fills the area, and bars that overlap are in different rows. Each of several lanes has a part. */
export function drawBars(sketch: Sketch, area: Area): void {
  const height = area.height / area.lanes.length;
  area.lanes.forEach((lane, index) => {
    const band: Area = { ...area, lanes: [lane], y: area.y + index * height, height };
    const items = itemsOf(sketch.frame, lane.name);
    if (area.lanes.length > 1) sketch.text(lane.label, sketch.frame.width - 4, band.y + height - 4, 'right');
    if (items) drawBarsOf(sketch, band, lane, items);
    else drawCounts(sketch, band);
  });
}

/** Bars of a lane. A bar is hollow up to the instant between start and end, if the item has such an instant. */
function drawBarsOf(sketch: Sketch, area: Area, lane: Lane, items: Item[]): void {
  const rowEnds: number[] = [];
  const rowCount = Math.max(1, Math.floor((area.height - 4) / BAR_ROW));
  for (const item of [...items].sort((a, b) => a.start - b.start)) {
    const { row, start, end, middle, category } = item;
    const place = takeRow(rowEnds, start, end) % rowCount;
    const belongs = sketch.emphasise(lane.name, row);
    const [x0, x1, y] = [sketch.xOf(start), sketch.xOf(end), area.y + 4 + place * BAR_ROW];
    if (lane.name === 'sdus') {
      sketch.pen.strokeStyle = sketch.palette.colour(belongs ? 'ink' : 'line2');
      sketch.pen.lineWidth = 1;
      sketch.pen.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0), 5);
    }
    const fillStart = middle !== null ? sketch.xOf(middle) : lane.name === 'sdus' ? x1 : x0;
    sketch.rectangle(fillStart, y, Math.max(1, x1 - fillStart - 1), 6, sketch.colourNameOf(lane, category));
    if (sketch.category(lane, item) === 'lost') sketch.cross(x1, y + 3);
    if (sketch.category(lane, item) === 'expired') sketch.rectangle(x1 - 1, y - 2, 2, 10, 'rto-e');
    sketch.hit(lane.name, row, x0, y + 3, x1, y + 3);
  }
  sketch.pen.globalAlpha = 1;
}

/** Occupies the first row that is free at `start`, until `end`. Returns its index. `rowEnds` has the end of each row. */
function takeRow(rowEnds: number[], start: number, end: number): number {
  const free = rowEnds.findIndex((rowEnd) => rowEnd <= start);
  const row = free < 0 ? rowEnds.length : free;
  rowEnds[row] = end;
  return row;
}
