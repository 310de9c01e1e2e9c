// Strips of causes or states.
import type { Area, Lane } from '../areas';
import { cellsOf, type Item } from './content';
import type { Sketch } from './sketch';

/** A strip of causes or states, with their names where there is room. */
export function drawStrip(sketch: Sketch, area: Area, lane: Lane, items: Item[]): void {
  for (const { row, start, end, category } of items) {
    const x = Math.max(-2, sketch.xOf(start));
    const width = Math.max(1, Math.min(sketch.frame.width + 2, sketch.xOf(end)) - x);
    sketch.pen.fillStyle = sketch.fillOf(lane, category);
    sketch.pen.fillRect(x, area.y + 5, width, area.height - 10);
    sketch.shapes++;
    const label = lane.categories[category]?.label ?? '';
    if (sketch.pen.measureText(label).width + 12 < width) sketch.text(label, Math.max(x, 0) + 4, area.y + area.height - 9, 'left');
    const middle = area.y + area.height / 2;
    sketch.hit(lane.name, row, x, middle, x + width, middle);
  }
}

/** The shares of causes or states in each cell, stacked. */
export function drawShares(sketch: Sketch, area: Area, lane: Lane): void {
  for (const { x, width, cells } of cellsOf(sketch.frame, lane.name)) {
    let y = area.y + area.height - 5;
    for (const { category, value: share } of cells) {
      const height = share * (area.height - 10);
      y -= height;
      sketch.pen.fillStyle = sketch.fillOf(lane, category);
      sketch.pen.fillRect(x, y, width, height);
      sketch.shapes++;
    }
  }
}
