import type { TimelineHead } from './tiles';

export type Lane = TimelineHead['lanes'][number];

/** A strip of the time line with one vertical axis. Heights and `y` are in CSS pixels. */
export interface Area {
  name: string;
  label: string;
  note: string;
  lanes: Lane[];
  y: number;
  tall: number;
}

/** Height of the axis above the areas. */
export const RULER = 20;

/** The longest view with a ladder of arrows between server, RNC and UE. */
const LADDER_S = 0.5;
const LADDER_TALL = 132;
/** The area of segments and ACKs, above the ladder. */
const TCP = 'tcp';

/** The areas of the lanes that a time line has, for a view of this length. */
export function areasOf(head: TimelineHead, span: number): Area[] {
  let y = RULER;
  const areas: Area[] = [];
  const add = (name: string, label: string, note: string, lanes: Lane[], tall: number) => {
    areas.push({ name, label, note, lanes, y, tall });
    y += tall;
  };
  for (const { name, label, note, height } of head.areas) {
    const lanes = head.lanes.filter((lane) => lane.area === name);
    if (!lanes.length) continue;
    add(name, label, note, lanes, height);
    if (name === TCP && span <= LADDER_S) add('ladder', 'Ladder', 'server, RNC, UE', lanes, LADDER_TALL);
  }
  return areas;
}

export function heightOf(areas: Area[]): number {
  const last = areas[areas.length - 1];
  return last ? last.y + last.tall : RULER;
}
