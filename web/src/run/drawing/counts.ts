// Columns of counts, for items that are too dense.
import type { Area } from '../areas';
import { cellsOf } from './content';
import type { Sketch } from './sketch';

/** Minimum height of an area of counts in which the scale is written. */
const MIN_SCALED_HEIGHT = 24;

/** Columns of counts of all lanes, stacked by category, the first category on top. */
export function drawCounts(sketch: Sketch, area: Area): void {
  const columnsOfLanes = area.lanes.map((lane) => ({ lane, columns: cellsOf(sketch.frame, lane.name) }));
  const sums = new Map<number, number>();
  for (const { columns } of columnsOfLanes) {
    for (const { x, cells } of columns) sums.set(x, (sums.get(x) ?? 0) + cells.reduce((sum, cell) => sum + cell.value, 0));
  }
  const maximum = Math.max(1, ...sums.values());
  // A low area has no room for the scale.
  const hasScale = area.height >= MIN_SCALED_HEIGHT;
  const base = area.y + area.height - 2;
  const tops = new Map<number, number>();
  for (const { lane, columns } of columnsOfLanes) {
    for (const { x, width, cells } of columns) {
      for (const { category, value: count } of [...cells].sort((a, b) => b.category - a.category)) {
        const height = (count / maximum) * (area.height - (hasScale ? 16 : 4));
        const y = (tops.get(x) ?? base) - height;
        sketch.pen.fillStyle = sketch.fillOf(lane, category);
        sketch.pen.fillRect(x, y, width, height);
        sketch.shapes++;
        tops.set(x, y);
      }
    }
  }
  if (sums.size && hasScale) sketch.text(`in ${sketch.frame.shown.level.cell}: at most ${maximum}`, sketch.frame.width - 4, area.y + 11, 'right');
}
