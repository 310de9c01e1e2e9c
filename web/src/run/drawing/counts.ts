// Columns of counts, for items that are too dense to be drawn one by one.
import type { Area, Lane } from '../areas';
import { type CellColumn, cellsOf } from './content';
import type { Sketch } from './sketch';

/** Minimum height in pixels of an area of counts in which the scale is written. */
const MIN_SCALED_HEIGHT = 24;
/** Pixels above the highest column, with and without the scale. */
const SCALE_MARGIN = 16;
const PLAIN_MARGIN = 4;
/** Pixels below the columns. */
const BASE_MARGIN = 2;

/** A lane and its columns, each of which fills some columns of pixels. */
interface LaneColumns {
  lane: Lane;
  columns: CellColumn[];
}

/** Draws columns of counts of all lanes, stacked by category, the first category on top. */
export function drawCounts(sketch: Sketch, area: Area): void {
  const lanes: LaneColumns[] = area.lanes.map((lane) => ({ lane, columns: cellsOf(sketch.frame, lane.name) }));
  const sums = sumsByX(lanes);
  const maximum = Math.max(1, ...sums.values());
  const hasScale = area.height >= MIN_SCALED_HEIGHT;
  const heightOfMaximum = area.height - (hasScale ? SCALE_MARGIN : PLAIN_MARGIN);
  const base = area.y + area.height - BASE_MARGIN;
  const tops = new Map<number, number>();
  for (const { lane, columns } of lanes) {
    for (const { x, width, cells } of columns) {
      for (const { category, value: count } of [...cells].sort((a, b) => b.category - a.category)) {
        const height = (count / maximum) * heightOfMaximum;
        const y = (tops.get(x) ?? base) - height;
        sketch.pen.fillStyle = sketch.fillOf(lane, category);
        sketch.pen.fillRect(x, y, width, height);
        sketch.shapes++;
        tops.set(x, y);
      }
    }
  }
  if (sums.size && hasScale) {
    const scale = `in ${sketch.frame.shown.level.cell}: at most ${maximum}`;
    sketch.text(scale, sketch.frame.width - 4, area.y + 11, 'right');
  }
}

/** The sum over all lanes and categories of each column, by its position in pixels. */
function sumsByX(lanes: LaneColumns[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const { x, cells } of lanes.flatMap(({ columns }) => columns)) {
    sums.set(x, (sums.get(x) ?? 0) + cells.reduce((sum, cell) => sum + cell.value, 0));
  }
  return sums;
}
