// The ladder: arrows between server, RNC and UE. Segments and ACKs cross the fixed network; PDUs and ACKs cross the radio.
import type { Area, Lane } from '../areas';
import { type Item, itemsOf } from './content';
import type { Sketch } from './sketch';

/** Heights of the lines from which and to which the arrows go. */
interface Rails {
  server: number;
  rnc: number;
  ue: number;
}

export function drawLadder(sketch: Sketch, area: Area, segments: Item[] | undefined): void {
  if (!segments) return sketch.text('Zoom in for single segments.', sketch.frame.width - 4, area.y + 24, 'right');
  const rails = { server: area.y + 16, rnc: area.y + area.height / 2, ue: area.y + area.height - 10 };
  drawRails(sketch, rails);
  for (const lane of area.lanes) drawSegments(sketch, lane, (lane.name === 'segments' ? segments : itemsOf(sketch.frame, lane.name)) ?? [], rails);
  drawPdus(sketch, rails);
  sketch.pen.globalAlpha = 1;
}

function drawRails(sketch: Sketch, rails: Rails): void {
  for (const [name, y] of [['server', rails.server], ['RNC', rails.rnc], ['UE', rails.ue]] as const) {
    sketch.rectangle(0, y, sketch.frame.width, 1, 'line2');
    sketch.text(name, sketch.frame.width - 4, y - 2, 'right');
  }
}

/** Segments with data, or ACKs, which go in the opposite direction. An arrow ends at the RNC, the next one begins there. */
function drawSegments(sketch: Sketch, lane: Lane, items: Item[], rails: Rails): void {
  const isData = lane.name === 'segments';
  const isToUe = isData === isDownload(sketch);
  const [from, to] = isToUe ? [rails.server, rails.ue] : [rails.ue, rails.server];
  for (const item of items) {
    const { row, start, end, middle, category } = item;
    sketch.emphasise(lane.name, row);
    const isLost = sketch.category(lane, item) === 'lost';
    const colour = isLost ? 'line2' : sketch.colourNameOf(lane, category);
    if (middle !== null) sketch.arrow(lane.name, row, [start, from], [middle, rails.rnc], colour);
    else if (isLost) sketch.cross(sketch.xOf(end), (from + rails.rnc) / 2);
    // Data crosses the radio as PDUs, which have their own arrows. An ACK has one arrow there.
    const isInPdus = isData && isToUe;
    if (middle !== null && !isLost && !isInPdus) sketch.arrow(lane.name, row, [middle, rails.rnc], [end, to], colour);
  }
}

/** The PDUs with data. The arrow of a lost PDU ends half-way, with a cross. */
function drawPdus(sketch: Sketch, rails: Rails): void {
  const lane = sketch.frame.head.lanes.find(({ name }) => name === 'pdus');
  if (!lane) return;
  const [from, to] = isDownload(sketch) ? [rails.rnc, rails.ue] : [rails.ue, rails.rnc];
  for (const item of itemsOf(sketch.frame, lane.name) ?? []) {
    const { row, start, end, category } = item;
    sketch.emphasise(lane.name, row);
    if (sketch.category(lane, item) === 'lost') {
      const [x, y] = [sketch.xOf(end), (from + to) / 2];
      sketch.line(sketch.xOf(start), from, x, y, 'line2', 1);
      sketch.cross(x, y);
      sketch.hit(lane.name, row, sketch.xOf(start), from, x, y);
    } else {
      sketch.arrow(lane.name, row, [start, from], [end, to], sketch.colourNameOf(lane, category));
    }
  }
}

/** Whether the data of the connection go to the UE. */
function isDownload(sketch: Sketch): boolean {
  return sketch.frame.head.direction === 'downlink';
}
