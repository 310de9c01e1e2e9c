// The areas of the time line: strips below one another, each with one vertical axis for one or more lanes.
// A lane has one kind of event, such as segments, or one value over time, such as the congestion window.
import type { TimelineHead } from './tiles';

export type Lane = TimelineHead['lanes'][number];

/** A strip of the time line with one vertical axis. Heights and `y` are in CSS pixels. */
export interface Area {
  name: string;
  label: string;
  note: string;
  lanes: Lane[];
  y: number;
  height: number;
}

/** Height of the axis above the areas. */
export const RULER = 20;

/** The longest view, in seconds, with a ladder: arrows between server, RNC and UE for each segment and PDU. */
const LADDER_S = 0.5;
const LADDER_HEIGHT = 132;
/** The area of segments and ACKs, above the ladder. */
const TCP = 'tcp';

/** The areas of the lanes that a time line has, for a view of this length. */
export function areasOf(head: TimelineHead, span: number): Area[] {
  let y = RULER;
  const areas: Area[] = [];
  const add = (name: string, label: string, note: string, lanes: Lane[], height: number) => {
    areas.push({ name, label, note, lanes, y, height });
    y += height;
  };
  for (const { name, label, note, height } of head.areas) {
    const lanes = head.lanes.filter((lane) => lane.area === name);
    if (!lanes.length) continue;
    add(name, label, note, lanes, height);
    if (name === TCP && span <= LADDER_S) add('ladder', 'Ladder', 'server, RNC, UE', lanes, LADDER_HEIGHT);
  }
  return areas;
}

export function heightOf(areas: Area[]): number {
  const last = areas[areas.length - 1];
  return last ? last.y + last.height : RULER;
}
