import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Swatch, useLooks } from '../app/causes';
import { usePage } from '../app/context';
import { areasOf, heightOf } from './areas';
import type { Drawn, Frame, Source } from './drawing/frame';
import { drawTimeline, timelinePng, timelineSvg } from './drawTimeline';
import { type Hit, nearest } from './hits';
import type { Shown, TimelineHead } from './tiles';

/** A time, in seconds. */
interface Range {
  from: number;
  to: number;
}

interface Props {
  /** Address of the items in view as CSV. */
  table: string;
  head: TimelineHead;
  shown: Shown;
  range: Range;
  /** The visible time is `range`. Rows of the selection by lane, the shaded time and the timeouts are marks on it. */
  rows: Record<string, number[]> | undefined;
  span: Range | undefined;
  timeouts: number[];
  /** Makes another time visible. */
  move: (from: number, to: number) => void;
  /** Makes the whole connection visible. */
  fit: () => void;
  /** Selects an item: a row of a lane. */
  pick: (lane: string, row: number) => void;
  /** A second run on the same axis. */
  other: Source | undefined;
  /** Shows what happens between two instants. */
  measure: (from: number, to: number) => void;
}

/** Maximum distance between a click and the item that it selects, in pixels: with a mouse, and with a finger. */
const MOUSE_REACH_PX = 7;
const FINGER_REACH_PX = 24;
/** Shortest visible time. */
const MIN_SPAN_S = 0.02;
/** Width of the window up to which the names of areas are drawn inside them. */
const NARROW_PX = 640;
/** Longest movement of the pointer that still counts as a click. */
const CLICK_PX = 3;
/** Time between two reports of a movement to the page. */
const REPORT_MS = 200;

/**
 * The lanes. Drag or arrow keys pan, Shift and drag measure, plus and minus zoom, a click opens an item.
 *
 * While the pointer or the wheel moves the view, only the canvas is drawn, once per frame. The page is notified of
 * the visible time a few times per second, and at the end of the movement.
 */
export function TimelineCanvas(props: Props) {
  const { table, head, shown, range, rows, span, timeouts, move, fit, pick, other, measure } = props;
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>({ hits: [], shapes: 0 });
  /** A drag in progress: last position, distance so far, instant at which it began. */
  const drag = useRef<{ x: number; moved: number; start: number; isMeasuring: boolean } | undefined>(undefined);
  /** The visible time that the page does not have yet. */
  const unreported = useRef<Range | undefined>(undefined);
  const report = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const cursor = useRef<number | undefined>(undefined);
  const measured = useRef<Range | undefined>(undefined);
  const { theme } = usePage();
  const looks = useLooks();
  const [width, setWidth] = useState(0);
  const areas = areasOf(head, range.to - range.from);
  const isNarrow = innerWidth <= NARROW_PX;

  const frame: Frame = { width, head, shown, looks, ...range, hasLabels: isNarrow, other, marks: { rows, span, timeouts, cursor: undefined } };
  const name = `connection-${head.connection}-${range.from.toFixed(3)}-${range.to.toFixed(3)}`;

  const draw = () => {
    if (!canvas.current || !width) return;
    const marks = { ...frame.marks, span: measured.current ?? span, cursor: cursor.current };
    drawn.current = drawTimeline(canvas.current, { ...frame, ...unreported.current, marks });
    canvas.current.dataset['shapes'] = String(drawn.current.shapes);
    canvas.current.dataset['level'] = String(shown.level.level);
  };
  const requestDraw = useFrames(draw);

  const inView = () => unreported.current ?? range;
  const timeAt = (x: number) => inView().from + (x / Math.max(1, width)) * (inView().to - inView().from);
  /** Passes the time in view to the page. */
  const reportView = () => {
    const last = unreported.current;
    discardUnreported();
    if (last) move(last.from, last.to);
  };
  const discardUnreported = () => {
    clearTimeout(report.current);
    report.current = undefined;
    unreported.current = undefined;
  };
  /** Moves to a time, kept within the run. */
  const goTo = (start: number, length: number) => {
    const from = Math.max(0, Math.min(start, head.duration_s - length));
    unreported.current = { from, to: from + length };
    report.current ??= setTimeout(reportView, REPORT_MS);
    requestDraw();
  };
  const zoom = (factor: number, around: number) => {
    const { from, to } = inView();
    const length = Math.max(MIN_SPAN_S, Math.min(head.duration_s, (to - from) * factor));
    goTo(around - ((around - from) / (to - from)) * length, length);
  };
  const pan = (share: number) => {
    const { from, to } = inView();
    goTo(from + share * (to - from), to - from);
  };

  useEffect(() => {
    if (!stage.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(stage.current);
    return () => observer.disconnect();
  }, []);
  useEffect(draw, [head, shown, range.from, range.to, rows, span, timeouts, width, theme, other]);
  // A time that the page chose ends a movement.
  useLayoutEffect(() => discardUnreported, [head, range.from, range.to]);
  // The wheel scrolls the page unless the lanes have the focus, or Ctrl is held.
  useEffect(() => {
    const element = stage.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const isZoom = event.ctrlKey || event.metaKey || (document.activeElement === element && !isSideways);
      if (!isZoom && !isSideways) return;
      event.preventDefault();
      if (isZoom) zoom(2 ** (event.deltaY / 200), timeAt(event.clientX - element.getBoundingClientRect().left));
      else pan((event.deltaX || event.deltaY) / Math.max(1, width));
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  });

  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (range.from + range.to) / 2;
    const share = event.shiftKey ? 0.5 : 0.1;
    if (event.key === 'ArrowLeft') pan(-share);
    else if (event.key === 'ArrowRight') pan(share);
    else if (event.key === '+' || event.key === '=') zoom(0.5, middle);
    else if (event.key === '-') zoom(2, middle);
    else if (event.key === '0') fit();
    else if (event.key === 'm') measure(range.from, range.to);
    else return;
    reportView();
    event.preventDefault();
  };
  const place = (event: PointerEvent): [number, number] => {
    const box = stage.current?.getBoundingClientRect();
    return [event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0)];
  };
  const down = (event: PointerEvent) => {
    const [x] = place(event);
    drag.current = { x, moved: 0, start: timeAt(x), isMeasuring: event.shiftKey };
    stage.current?.setPointerCapture(event.pointerId);
    stage.current?.focus({ preventScroll: true });
  };
  const hover = (event: PointerEvent) => {
    const [x] = place(event);
    const dragged = drag.current;
    if (dragged) {
      const by = x - dragged.x;
      dragged.moved += Math.abs(by);
      dragged.x = x;
      if (dragged.moved > CLICK_PX && dragged.isMeasuring) measured.current = spanOf(dragged.start, timeAt(x));
      else if (dragged.moved > CLICK_PX) pan(-by / Math.max(1, width));
    }
    cursor.current = timeAt(x);
    requestDraw();
  };
  const leave = () => {
    cursor.current = undefined;
    requestDraw();
  };
  const cancel = () => {
    drag.current = undefined;
    measured.current = undefined;
    reportView();
    requestDraw();
  };
  const up = (event: PointerEvent) => {
    const dragged = drag.current;
    cancel();
    if (!dragged) return;
    const [x, y] = place(event);
    if (dragged.moved > CLICK_PX) {
      const { from, to } = spanOf(dragged.start, timeAt(x));
      if (dragged.isMeasuring) measure(Math.max(0, from), Math.min(head.duration_s, to));
      return;
    }
    const hit: Hit | undefined = nearest(drawn.current.hits, x, y, event.pointerType === 'touch' ? FINGER_REACH_PX : MOUSE_REACH_PX);
    if (hit) pick(hit.lane, hit.row);
  };

  return (
    <div class="timeline">
      {!isNarrow && (
        <div class="gutter" aria-hidden="true" style={{ height: `${heightOf(areas)}px` }}>
          {areas.map((area) => (
            <div key={area.name} style={{ top: `${area.y}px`, height: `${area.height}px` }}>
              {area.label}
              {area.height >= 32 && <small>{area.note}</small>}
            </div>
          ))}
        </div>
      )}
      <div
        ref={stage}
        class="stage"
        tabIndex={0}
        role="application"
        aria-roledescription="time line"
        aria-label={`Time line of connection ${head.connection}. Left and right pan, plus and minus zoom, 0 shows the whole connection, M measures the view, N and P step through timeouts and retransmissions.`}
        onKeyDown={press}
        onPointerDown={down}
        onPointerMove={hover}
        onPointerUp={up}
        onPointerCancel={cancel}
        onPointerLeave={leave}
      >
        <canvas ref={canvas} height={heightOf(areas)} aria-hidden="true" />
      </div>
      <Key head={head} />
      <p class="bar2 noprint export">
        Export the view:{' '}
        <button type="button" onClick={() => save(`${name}.svg`, new Blob([timelineSvg(frame)], { type: 'image/svg+xml' }))}>
          SVG
        </button>
        <button type="button" onClick={() => void timelinePng(frame).then((image) => save(`${name}.png`, image))}>
          PNG
        </button>
        <a class="btn" href={table} download={`${name}.csv`}>
          CSV
        </a>
      </p>
    </div>
  );
}

/** Returns a function that calls `draw` before the next frame, once however often it is called. */
function useFrames(draw: () => void): () => void {
  const latest = useRef(draw);
  latest.current = draw;
  const next = useRef(0);
  useEffect(() => () => cancelAnimationFrame(next.current), []);
  return () => {
    cancelAnimationFrame(next.current);
    next.current = requestAnimationFrame(() => latest.current());
  };
}

const spanOf = (a: number, b: number) => ({ from: Math.min(a, b), to: Math.max(a, b) });

/** Stores a file of the visitor. */
function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Lanes with several colours, which the key explains. Other lanes have one colour and their name beside them. */
const EXPLAINED: readonly string[] = ['segments', 'acknowledgments', 'pdus', 'rrc', 'ssthresh', 'rto', 'srtt', 'cwnd', 'outstanding'];

/** The meaning of colours and marks. */
function Key({ head }: { head: TimelineHead }) {
  const causes = head.lanes.find((lane) => lane.name === 'causes')?.categories ?? [];
  const colours = new Map<string, string>();
  for (const lane of head.lanes.filter(({ name }) => EXPLAINED.includes(name))) {
    for (const { colour, label, name } of lane.categories) if (name !== 'lost') colours.set(label, lane.draw === 'filled' ? `${colour}-e` : colour);
  }
  return (
    <div class="key marks">
      {[...colours].map(([text, colour]) => (
        <span key={text}>
          <i class="line" style={{ borderColor: `var(--${colour})` }} /> {text}
        </span>
      ))}
      <span>× lost or discarded</span>
      <span>▲ timeout</span>
      <span>▽ STATUS, filled if PDUs are missing</span>
      {causes.map((cause) => (
        <span key={cause.name}>
          <Swatch cause={cause.name} />
          {cause.label}
        </span>
      ))}
    </div>
  );
}
