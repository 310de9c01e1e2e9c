import { useEffect, useMemo, useState } from 'preact/hooks';
import { path, type Schemas } from '../api/client';
import { usePage } from '../app/context';
import { Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { type Chain, ChainPanel } from './ChainPanel';
import { MeasuredPanel } from './MeasuredPanel';
import { OtherRun } from './OtherRun';
import { type Found, Search } from './Search';
import type { Stalls } from './StallTable';
import { TimelineCanvas } from './TimelineCanvas';
import { type TimelineHead, useTiles } from './tiles';
import { ViewTable } from './ViewTable';
import { readView, setView, useView, type View } from './view';

type Selection = Schemas['Selection'];

interface Props {
  id: string;
  stalls: Stalls;
  /** The connection that is shown unless another one is chosen. */
  connection: number;
}

/** The lanes of one connection and its UE, and the chain of causes of a timeout, retransmission or stall. */
export function Timeline({ id, stalls, connection }: Props) {
  const { say } = usePage();
  const view = useView((all) => all);
  const [ofUe, setOfUe] = useState<number | undefined>();
  const loaded = useLoaded<Chain>(view.event === undefined ? undefined : path`/api/runs/${id}/chains/${view.event}`);
  const chain = loaded.content?.id === view.event ? loaded.content : undefined;
  // The open event is a stall, or a timeout or retransmission with this index.
  const stall = stalls.stalls.find(({ id }) => id === view.event);
  const index = stalls.events.findIndex(({ id }) => id === view.event);
  const shownConnection = view.connection ?? stall?.connection ?? stalls.events[index]?.connection ?? connection;
  const head = useLoaded<TimelineHead>(path`/api/runs/${id}/timeline/${shownConnection}`);
  const lanes = head.content?.connection === shownConnection ? head.content : undefined;
  /** The item that the visitor clicked: the row of a lane. */
  const [picked, setPicked] = useState<{ connection: number; lane: string; row: number }>();
  const link = view.link === undefined ? undefined : chain?.links[view.link];
  const packet = packetOf(chain, link);
  const item = picked?.connection === shownConnection ? picked : undefined;
  const selected = useLoaded<Selection>(
    item
      ? path`/api/runs/${id}/timeline/${shownConnection}/items/${item.lane}/${item.row}`
      : packet === undefined
        ? undefined
        : path`/api/runs/${id}/timeline/${shownConnection}/items/packet/${packet}`,
  );
  const selection = item || packet !== undefined ? selected.content : undefined;
  const range = rangeOf(view, link, chain, lanes);
  const tiles = useTiles(id, lanes, range?.from ?? 0, range?.to ?? 1);
  const timeouts = useMemo(
    () => stalls.events.filter(({ kind, connection }) => kind === 'rto' && connection === shownConnection).map(({ time_s }) => time_s),
    [stalls, shownConnection],
  );
  const [measured, setMeasured] = useState<{ from: number; to: number }>();
  // A span that fills the view needs no shade.
  const isPart = measured && range && (measured.from > range.from || measured.to < range.to);
  const span = useMemo(
    () => (isPart ? measured : link ? { from: link.time_s, to: link.end_s } : undefined),
    [link, measured, isPart],
  );
  const otherHead = useLoaded<TimelineHead>(
    view.other === undefined ? undefined : path`/api/runs/${view.other}/timeline/${shownConnection}`,
  );
  const otherLanes = otherHead.content?.connection === shownConnection && view.other !== undefined ? otherHead.content : undefined;
  const otherTiles = useTiles(view.other ?? '', otherLanes, range?.from ?? 0, range?.to ?? 1);
  const other = useMemo(
    () => (otherLanes && otherTiles.shown ? { head: otherLanes, shown: otherTiles.shown } : undefined),
    [otherLanes, otherTiles.shown],
  );
  const measure = (from: number, to: number) => {
    if (to > from) setMeasured({ from, to });
  };
  const move = (from: number, to: number) => setView({ ...readView(location.hash), from, to }, 'replace');
  const fit = () => setView(without(view, 'from', 'to', 'link'), 'replace');
  const zoomBy = (factor: number) => {
    if (!range || !lanes) return;
    const [middle, half] = [(range.from + range.to) / 2, ((range.to - range.from) / 2) * factor];
    move(Math.max(0, middle - half), Math.min(lanes.duration_s, middle + half));
  };
  const pick = (lane: string, row: number) => setPicked({ connection: shownConnection, lane, row });
  /** Moves an item to the middle of the view. */
  const show = (found: Found) => {
    if (!range) return;
    const half = (range.to - range.from) / 2;
    move(Math.max(0, found.time_s - half), found.time_s + half);
    if (found.lane !== null && found.row !== null) pick(found.lane, found.row);
  };
  const inScope = (ue: number) => ofUe === undefined || ue === ofUe;
  const ues = [...new Set(stalls.events.map(({ ue }) => ue))].sort((a, b) => a - b);

  const open = (event: string, connection: number) => {
    setPicked(undefined);
    setView({ connection, event });
  };
  const close = () => {
    setPicked(undefined);
    setView(without(view, 'event', 'link'));
  };
  /** Opens the next (1) or previous (-1) timeout or retransmission. */
  const step = (by: 1 | -1) => {
    const event = neighbour(stalls, index, stall?.start_s, by, inScope);
    if (event) open(event.id, event.connection);
    else say(`No ${by > 0 ? 'later' : 'earlier'} timeout or retransmission of ${ofUe === undefined ? 'this run' : `UE ${ofUe}`}.`);
  };

  useEffect(() => {
    if (chain) say(chain.spoken);
  }, [chain?.id]);
  // An item that was chosen opens the chain of its packet, and the view stays.
  useEffect(() => {
    if (!item || !selection || selected.isLate) return;
    say(selection.text + (selection.chain ? '' : ' Nothing of it was sent again.'));
    if (selection.chain && selection.chain !== view.event && range) {
      setView({ connection: shownConnection, event: selection.chain, from: range.from, to: range.to });
    }
  }, [selection?.text]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === 'n' || event.key === 'p') step(event.key === 'n' ? 1 : -1);
      else if (event.key === 'Escape' && measured) setMeasured(undefined);
      else if (event.key === 'Escape' && view.event) close();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  // A chain that was opened from another part of the page gets the focus, so that screen readers read it.
  useEffect(() => {
    const isHere = document.activeElement?.closest('#timeline');
    if (chain && !isHere) document.getElementById('chain')?.focus();
  }, [chain?.id]);

  return (
    <div id="timeline">
      <Section
        title="Time line"
        note="Drag to move, Shift and drag to measure, Ctrl and wheel or + and − to zoom, click an item to see what belongs to it. Keys: N next, P previous, M measure, Esc close."
      >
        <div class="bar2 noprint">
          <label>
            Connection{' '}
            <select
              aria-label="Connection of the time line"
              value={String(shownConnection)}
              onChange={(event) => {
                setPicked(undefined);
                setView({ connection: Number(event.currentTarget.value) });
              }}
            >
              {(lanes?.connections ?? [{ connection: shownConnection, ue: undefined }]).map((other) => (
                <option key={other.connection} value={String(other.connection)}>
                  {other.connection}
                  {other.ue !== undefined && `, UE ${other.ue}`}
                </option>
              ))}
            </select>
          </label>
          <div class="kinds" role="group" aria-label="Zoom">
            <button type="button" aria-label="Zoom out" onClick={() => zoomBy(2)}>
              −
            </button>
            <button type="button" aria-label="Zoom in" onClick={() => zoomBy(0.5)}>
              +
            </button>
            <button type="button" onClick={fit}>
              Fit
            </button>
          </div>
          <div class="kinds" role="group" aria-label="Timeouts and retransmissions">
            <button type="button" disabled={!stalls.event_count} onClick={() => step(-1)}>
              ‹ Previous
            </button>
            <button type="button" disabled={!stalls.event_count} onClick={() => step(1)}>
              Next ›
            </button>
          </div>
          <label>
            of{' '}
            <select
              aria-label="Timeouts and retransmissions of"
              value={ofUe === undefined ? '' : String(ofUe)}
              onChange={(event) => setOfUe(event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value))}
            >
              <option value="">all UEs</option>
              {ues.map((ue) => (
                <option key={ue} value={String(ue)}>
                  UE {ue}
                </option>
              ))}
            </select>
          </label>
          <Search id={id} connection={shownConnection} at={range ? (range.from + range.to) / 2 : 0} show={show} />
          <button type="button" disabled={!range} onClick={() => range && measure(range.from, range.to)}>
            Measure
          </button>
          <OtherRun id={id} chosen={view.other} choose={(other) => setView(other === undefined ? without(view, 'other') : { ...view, other }, 'replace')} />
          <span class="small">{position(stalls, index)}</span>
        </div>
        <p class="read small" aria-hidden="true">
          {range && `${range.from.toFixed(3)} s to ${range.to.toFixed(3)} s. `}
          {selection?.text}
        </p>
        {measured && (
          <MeasuredPanel id={id} connection={shownConnection} from={measured.from} to={measured.to} close={() => setMeasured(undefined)} />
        )}
        {view.other !== undefined && <Waiting of={otherHead} what="the second run" />}
        {other && (
          <p class="small">
            <i class="ghost" aria-hidden="true" /> grey: connection {shownConnection} of the second run
          </p>
        )}
        <Waiting of={loaded} what="the chain of causes" />
        <Waiting of={head} what="the time line" />
        {tiles.error && <Waiting of={{ content: undefined, error: tiles.error, isLate: false, again: tiles.again }} what="" />}
        {tiles.isLate && range && (
          <p class="small">
            Loading {range.from.toFixed(2)} to {range.to.toFixed(2)} s …
          </p>
        )}
        <div class={chain ? 'beside' : ''}>
          {lanes && tiles.shown && range && (
            <TimelineCanvas
              table={path`/api/runs/${id}/timeline/${shownConnection}/view.csv` + `?from_s=${range.from}&to_s=${range.to}`}
              head={lanes}
              shown={tiles.shown}
              range={range}
              rows={selection?.rows}
              span={span}
              timeouts={timeouts}
              move={move}
              fit={fit}
              pick={pick}
              other={other}
              measure={measure}
            />
          )}
          {chain && (
            <ChainPanel
              chain={chain}
              link={view.link}
              chooseLink={(chosen) => {
                setPicked(undefined);
                setView({ ...without(view, 'from', 'to'), connection: chain.connection, link: chosen });
              }}
              close={close}
            />
          )}
        </div>
        {lanes && range && <ViewTable id={id} connection={shownConnection} from={range.from} to={range.to} />}
      </Section>
    </div>
  );
}

/** The visible time: from the address, or else the time of the open link, of the open chain, or of the connection. */
function rangeOf(
  view: View,
  link: Chain['links'][number] | undefined,
  chain: Chain | undefined,
  lanes: TimelineHead | undefined,
): { from: number; to: number } | undefined {
  if (!lanes) return undefined;
  if (view.from !== undefined && view.to !== undefined) return { from: view.from, to: Math.min(view.to, lanes.duration_s) };
  const shown = link ?? (chain?.connection === lanes.connection ? chain : lanes);
  return { from: shown.from_s, to: Math.min(shown.to_s, lanes.duration_s) };
}

/** The packet of a link, or of the chain. */
function packetOf(chain: Chain | undefined, link: Chain['links'][number] | undefined): number | undefined {
  const packet = link?.identity['packet'];
  return typeof packet === 'number' ? packet : (chain?.packet ?? undefined);
}

/** The counts of events, and the number of the open one. */
function position(stalls: Stalls, index: number): string {
  const note = stalls.events.length < stalls.event_count ? ` Those after the first ${stalls.events.length} are in umts why.` : '';
  const counts = `${stalls.timeouts} timeouts, ${stalls.event_count - stalls.timeouts} retransmissions, of both ends.`;
  return index < 0 ? counts + note : `Number ${index + 1} of ${stalls.event_count}: ${counts}${note}`;
}

/**
 * The next or previous timeout or retransmission in scope.
 *
 * It follows or precedes the open event (`index`), or else the start of the open stall (`stallAt`). If nothing is
 * open, it is the first or last of all.
 */
function neighbour(stalls: Stalls, index: number, stallAt: number | undefined, by: 1 | -1, inScope: (ue: number) => boolean) {
  const { events } = stalls;
  const after = (i: number) => (by > 0 ? events.slice(i + 1) : events.slice(0, i).reverse());
  const candidates =
    index >= 0
      ? after(index)
      : by > 0
        ? events.filter(({ time_s }) => time_s >= (stallAt ?? 0))
        : events.filter(({ time_s }) => time_s <= (stallAt ?? Number.POSITIVE_INFINITY)).reverse();
  return candidates.find(({ ue }) => inScope(ue));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable]') !== null;
}

function without(view: View, ...names: (keyof View)[]): View {
  return Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name as keyof View)));
}
