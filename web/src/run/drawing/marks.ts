// Items without duration: triangles and ticks.
import type { Area, Lane } from '../areas';
import type { Item } from './content';
import type { Sketch } from './sketch';

/** Triangles for items without duration, such as STATUS PDUs. */
export function drawMarks(sketch: Sketch, area: Area, lane: Lane, items: Item[]): void {
  const { pen } = sketch;
  for (const { row, start, category } of items) {
    sketch.emphasise(lane.name, row);
    const [x, y] = [sketch.xOf(start), area.y + 10];
    sketch.triangle(x, y, 5, 10, sketch.colourNameOf(lane, category));
    pen.strokeStyle = sketch.palette.colour('rlc-e');
    pen.lineWidth = 1;
    pen.stroke();
    sketch.hit(lane.name, row, x, y + 4, x, y + 4);
  }
  pen.globalAlpha = 1;
}

/** Vertical ticks for items without duration. Items of the first category have large ticks. */
export function drawTicks(sketch: Sketch, area: Area, lane: Lane, items: Item[]): void {
  for (const { row, start, category } of items) {
    sketch.emphasise(lane.name, row);
    const isLarge = category === 0;
    const [x, y, height] = [sketch.xOf(start), area.y + 12, isLarge ? 13 : 8];
    sketch.rectangle(x - (isLarge ? 1 : 0), y, isLarge ? 3 : 1, height, sketch.colourNameOf(lane, category));
    sketch.hit(lane.name, row, x, y + 4, x, y + 4);
  }
  sketch.pen.globalAlpha = 1;
}
