// Bars from the start to the end of items, such as SDUs and timers.
import type { Area, Lane } from '../areas';
import { type Item, itemsOf } from './content';
import { drawCounts } from './counts';
import type { Sketch } from './sketch';

/** Height of a row of bars, in pixels. */
const ROW_HEIGHT = 8;
/** Height of a bar, in pixels. */
const BAR_HEIGHT = 6;
/** Pixels above the first row. */
const TOP_MARGIN = 4;

/** Draws bars. Each lane has an equal part of the area, in which bars that overlap are in different rows. */
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

/**
 * Draws the bars of a lane. If the item has an instant between start and end, the bar is filled from this instant on.
 * An SDU also has a frame from start to end, and is not filled without such an instant.
 */
function drawBarsOf(sketch: Sketch, area: Area, lane: Lane, items: Item[]): void {
  const isSdu = lane.name === 'sdus';
  const rowEnds: number[] = [];
  const rowCount = Math.max(1, Math.floor((area.height - TOP_MARGIN) / ROW_HEIGHT));
  for (const item of [...items].sort((a, b) => a.start - b.start)) {
    const { row, start, end, middle, category } = item;
    // Without a free row, bars overlap.
    const place = takeRow(rowEnds, start, end) % rowCount;
    const belongs = sketch.emphasise(lane.name, row);
    const [startX, endX, y] = [sketch.xOf(start), sketch.xOf(end), area.y + TOP_MARGIN + place * ROW_HEIGHT];
    if (isSdu) {
      sketch.pen.strokeStyle = sketch.palette.colour(belongs ? 'ink' : 'line2');
      sketch.pen.lineWidth = 1;
      sketch.pen.strokeRect(startX + 0.5, y + 0.5, Math.max(1, endX - startX), BAR_HEIGHT - 1);
    }
    const fillStart = middle !== null ? sketch.xOf(middle) : isSdu ? endX : startX;
    const fillWidth = Math.max(1, endX - fillStart - 1);
    sketch.rectangle(fillStart, y, fillWidth, BAR_HEIGHT, sketch.colourNameOf(lane, category));
    const middleY = y + BAR_HEIGHT / 2;
    const outcome = sketch.category(lane, item);
    if (outcome === 'lost') sketch.cross(endX, middleY);
    if (outcome === 'expired') sketch.rectangle(endX - 1, y - 2, 2, BAR_HEIGHT + 4, 'rto-e');
    sketch.hit(lane.name, row, startX, middleY, endX, middleY);
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
