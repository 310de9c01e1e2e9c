// Draws the view of all UEs of a run: one row per UE, with the causes of its waits above and its RRC states below.
//
// The server folds times in which all UEs are idle: `spans` are the times that are drawn, `folds` the gaps between
// them. A piece is an interval with one cause or state, or the share of a cause in a cell of the time axis, which is
// `share` of the row's height above `base`. Sizes are in CSS pixels, times in seconds.
import type { Schemas } from '../api/client';
import type { CauseLook } from '../app/context';
import { stepFor } from './axis';

type Lanes = Schemas['Lanes'];
type Piece = Schemas['Piece'];

/** Height of the time axis above the rows. */
const AXIS = 20;
/** Height of a row. */
const ROW = 20;
/** Height of the causes in a row. */
const CAUSES = 10;
/** Height of the RRC states in a row. */
const STATES = 4;
/** Width of the name of the UE. */
const LABEL = 48;
/** Width of a fold. */
const FOLD = 24;

export function lanesHeight(lanes: Lanes): number {
  return AXIS + ROW * lanes.rows.length;
}

/** Index of the row at a height in CSS pixels; negative on the axis. */
export function rowAt(y: number): number {
  return Math.floor((y - AXIS) / ROW);
}

interface Axis {
  /** The pixel of an instant in the span of an index. */
  at: (span: number, time: number) => number;
  spans: Lanes['spans'];
  folds: { x: number; text: string }[];
}

/** Lays the spans beside one another, with a gap where idle time is folded. */
function axisOf(lanes: Lanes, width: number): Axis {
  const folded = new Set(lanes.folds.map((fold) => fold.at));
  const total = lanes.spans.reduce((sum, span) => sum + span.to_s - span.from_s, 0);
  const scale = (width - LABEL - FOLD * folded.size) / total;
  const starts: number[] = [];
  const folds: Axis['folds'] = [];
  let x = LABEL;
  for (let i = 0; i <= lanes.spans.length; i++) {
    const fold = lanes.folds.find((candidate) => candidate.at === i);
    if (fold) {
      folds.push({ x: x + FOLD / 2, text: fold.text });
      x += FOLD;
    }
    const span = lanes.spans[i];
    if (span) {
      starts.push(x);
      x += (span.to_s - span.from_s) * scale;
    }
  }
  const at = (span: number, time: number) => (starts[span] ?? 0) + (time - (lanes.spans[span]?.from_s ?? 0)) * scale;
  return { at, spans: lanes.spans, folds };
}

/** Draws all rows. The canvas gets its size in device pixels. */
export function draw(
  canvas: HTMLCanvasElement,
  lanes: Lanes,
  looks: Map<string, CauseLook>,
  width: number,
  chosenUe: number | undefined,
): void {
  const ratio = Math.max(1, devicePixelRatio);
  const height = lanesHeight(lanes);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = axisOf(lanes, width);
  pen.font = `11px ${style.fontFamily}`;
  drawAxis(pen, axis, width, height, colour);
  const fills = new Map([...looks.values()].map((look) => [look.name, fillOf(pen, look, colour)]));
  lanes.rows.forEach((row, i) => {
    const y = AXIS + i * ROW;
    if (row.ue === chosenUe) {
      pen.fillStyle = colour('sel');
      pen.fillRect(0, y, width, ROW);
    }
    pen.fillStyle = colour('ink');
    pen.textAlign = 'left';
    pen.fillText(`UE ${row.ue}`, 0, y + 14);
    paintPieces(axis, row.causes, (x, width, piece) => {
      pen.fillStyle = fills.get(piece.what) ?? colour('idle');
      pen.fillRect(x, y + 2 + CAUSES * (1 - piece.base - piece.share), width, CAUSES * piece.share);
    });
    paintPieces(axis, row.states, (x, width, piece) => {
      pen.fillStyle = colour(piece.what === 'switch' ? 'switch' : piece.what === 'CELL_DCH' ? 'dch' : 'fach');
      const thick = piece.what === 'CELL_DCH' || piece.what === 'switch' ? STATES : STATES / 2;
      pen.fillRect(x, y + 13 + STATES - thick, width, thick);
    });
    for (const timeout of row.timeouts) triangle(pen, axis, timeout, y, colour);
  });
}

/** Calls `paint` with the position of each piece in the spans. */
function paintPieces(axis: Axis, pieces: Piece[], paint: (x: number, width: number, piece: Piece) => void): void {
  axis.spans.forEach((span, i) => {
    for (const piece of pieces) {
      const from = Math.max(piece.from_s, span.from_s);
      const to = Math.min(piece.to_s, span.to_s);
      if (from < to) {
        const x = axis.at(i, from);
        paint(x, axis.at(i, to) - x, piece);
      }
    }
  });
}

function drawAxis(pen: CanvasRenderingContext2D, axis: Axis, width: number, height: number, colour: (name: string) => string): void {
  pen.textAlign = 'center';
  axis.spans.forEach((span, i) => {
    const step = stepFor(span, axis.at(i, span.to_s) - axis.at(i, span.from_s));
    for (let n = Math.ceil(span.from_s / step); n * step <= span.to_s; n++) {
      const x = axis.at(i, n * step);
      pen.fillStyle = colour('grid');
      pen.fillRect(x, AXIS - 4, 1, height);
      pen.fillStyle = colour('mute');
      const text = `${Number((n * step).toPrecision(6))}${n === 0 || (i === 0 && n === Math.ceil(span.from_s / step)) ? ' s' : ''}`;
      // Labels at the edges stay inside.
      pen.fillText(text, Math.min(Math.max(x, LABEL + 6), width - pen.measureText(text).width / 2), 12);
    }
  });
  pen.strokeStyle = colour('line2');
  for (const fold of axis.folds) {
    pen.setLineDash([2, 2]);
    pen.beginPath();
    pen.moveTo(fold.x, AXIS - 4);
    pen.lineTo(fold.x, height);
    pen.stroke();
    pen.setLineDash([]);
    pen.save();
    pen.translate(fold.x - 3, Math.min(height - 4, AXIS + 76));
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'left';
    pen.fillStyle = colour('mute');
    pen.fillText(fold.text, 0, 0);
    pen.restore();
  }
}

export function fillOf(pen: Pick<CanvasRenderingContext2D, 'createPattern'>, look: CauseLook, colour: (name: string) => string): string | CanvasPattern {
  if (!look.hatch) return colour(look.hue);
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const brush = tile.getContext('2d');
  if (!brush) return colour(look.hue);
  brush.fillStyle = colour(look.hue);
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = brush.fillStyle = colour('bg');
  brush.lineWidth = 1.5;
  brush.beginPath();
  if (look.hatch === 'dotted' || look.hatch === 'ringed') {
    brush.arc(3, 3, 1.3, 0, 2 * Math.PI);
    brush.fill();
  } else {
    const down = look.hatch === 'falling' ? 6 : 0;
    brush.moveTo(0, 6 - down);
    brush.lineTo(6, down);
    if (look.hatch === 'crossed' || look.hatch === 'plus') {
      brush.moveTo(0, down);
      brush.lineTo(6, 6 - down);
    }
    brush.stroke();
  }
  return pen.createPattern(tile, 'repeat') ?? colour(look.hue);
}

function triangle(
  pen: CanvasRenderingContext2D,
  axis: Axis,
  timeout: Schemas['Timeout'],
  y: number,
  colour: (name: string) => string,
): void {
  const i = axis.spans.findIndex((span) => span.from_s <= timeout.time_s && timeout.time_s <= span.to_s);
  if (i < 0) return;
  const x = axis.at(i, timeout.time_s);
  pen.beginPath();
  pen.moveTo(x, y + 3);
  pen.lineTo(x + 4, y + 10);
  pen.lineTo(x - 4, y + 10);
  pen.closePath();
  pen.fillStyle = colour(timeout.is_needed ? 'ink' : 'bg');
  pen.strokeStyle = colour(timeout.is_needed ? 'bg' : 'ink');
  pen.lineWidth = 1;
  pen.fill();
  pen.stroke();
}
