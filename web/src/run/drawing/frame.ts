// What is drawn: a view of a time line, with marks. Times are in seconds; x, y and sizes in CSS pixels.
import type { CauseLook } from '../../app/context';
import type { Hit } from '../hits';
import type { Shown, TimelineHead } from '../tiles';

/** Result of drawing a frame. */
export interface Drawn {
  /** Places of the items, to find the one that a visitor clicks. */
  hits: Hit[];
  /** Number of rectangles, lines and marks of this frame. */
  shapes: number;
}

/** Marks on the time line that are not part of the tiles. */
export interface Marks {
  /** Selected rows by lane; all other rows are drawn faintly. Undefined: nothing is selected. */
  rows: Record<string, number[]> | undefined;
  /** A shaded time: the open link of a chain of causes, or the time that is measured. */
  span: { from: number; to: number } | undefined;
  /** Instants of retransmission timeouts. */
  timeouts: number[];
  /** Instant of the pointer. */
  cursor: number | undefined;
}

/** Lanes of a connection: their declaration, and their tiles. */
export interface Source {
  head: TimelineHead;
  shown: Shown;
}

/** Everything that is drawn: the lanes of a connection in the view `from` to `to`, with marks. */
export interface Frame extends Source {
  width: number;
  /** Colours and hatches of causes, by name. */
  looks: Map<string, CauseLook>;
  from: number;
  to: number;
  marks: Marks;
  /** Whether the names of the areas are drawn inside them. */
  hasLabels: boolean;
  /** A second run on the same axis, in grey. */
  other?: Source | undefined;
}

/** Colours by the names of their custom properties, and the fills of causes. */
export interface Palette {
  colour: (name: string) => string;
  fill: (look: CauseLook) => string | CanvasPattern;
}

/** The horizontal position of an instant. */
export function xOf({ from, to, width }: Frame, time: number): number {
  return ((time - from) / (to - from)) * width;
}
