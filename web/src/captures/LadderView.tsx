import { useEffect, useRef } from 'preact/hooks';
import type { Schemas } from '../api/client';
import { usePage } from '../app/context';
import { Command, Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { type Shown, show } from './address';

type Ladder = Schemas['Ladder'];
type Packet = Schemas['LadderPacket'];

/** Height of the drawing of a packet, and distance of the ends from its sides, in CSS pixels. */
const [HEIGHT, MARGIN] = [28, 8];

/** Width of the drawing of a packet in CSS pixels. A narrow screen shows both ends without scrolling. */
const widthOf = () => (innerWidth <= 640 ? 164 : 220);

/** Vertical place of an arrow in its row. Its text stands above. */
const LINE = 19;

/** Packets that are shown before one that was searched for. */
const CONTEXT = 5;

/** Packets of a connection as arrows between both ends. */
export function LadderView({ address, number, shown }: { address: string; number: number; shown: Shown }) {
  const { say } = usePage();
  const { graph, first, time, packet } = shown;
  const loaded = useLoaded<Ladder>(`${address}/ladder?${time === undefined ? `first=${first ?? 1}` : `from_s=${time}`}`);
  const ladder = loaded.content;
  const move = (start: Shown) => show({ connection: number, ...(graph && { graph }), ...start });
  const find = (target: number) => {
    const isShown = ladder?.rows.some((row) => row.packet === target);
    if (isShown) show({ ...shown, connection: number, packet: target });
    else move({ first: Math.max(1, target - CONTEXT), packet: target });
    say(`Packet ${target} was sent again.`);
  };
  return (
    <Section title={`Flow ladder of connection ${number}`} note={ladder && countsOf(ladder)}>
      {ladder ? (
        <>
          {ladder.notes.map((note) => (
            <p key={note} class="small">
              {note}
            </p>
          ))}
          <Controls ladder={ladder} shown={shown} move={move} find={find} />
          {loaded.error && <Waiting of={loaded} what="the packets" />}
          <Key ladder={ladder} />
          <Rows ladder={ladder} target={packet} />
          <p class="small noprint">
            Save: <a href={`${address}/ladder.csv`} download>all packets as CSV</a>,{' '}
            <a href={`${address}/ladder.svg?first=${ladder.rows[0]?.packet ?? 1}`} download>
              these packets as SVG
            </a>
          </p>
          <Command text={ladder.command} />
        </>
      ) : (
        <Waiting of={loaded} what="the packets" />
      )}
    </Section>
  );
}

function countsOf(ladder: Ladder): string {
  return `${ladder.packets} packets, ${ladder.retransmissions} sent again, ${ladder.duplicate_acks} duplicate ACKs`;
}

interface ControlsProps {
  ladder: Ladder;
  shown: Shown;
  move: (start: Shown) => void;
  find: (packet: number) => void;
}

/** Buttons that turn pages, and that find retransmissions and times. */
function Controls({ ladder, shown, move, find }: ControlsProps) {
  const target = shown.packet;
  const show = (first: number) => move({ first });
  const [first, last] = [ladder.rows[0], ladder.rows.at(-1)];
  const again = ladder.rows.filter((row) => row.kind === 'retransmission').map((row) => row.packet);
  const from = target ?? (first?.packet ?? 1) - 1;
  const next = again.find((packet) => packet > from) ?? ladder.retransmission_after;
  const previous = again.filter((packet) => packet < (target ?? 0)).at(-1) ?? ladder.retransmission_before;
  const isFirst = ladder.previous === null;
  const isLast = ladder.next === null;
  return (
    <>
      <div class="bar2 noprint" role="group" aria-label="Packets of the ladder">
        <button type="button" onClick={() => show(1)}>
          First
        </button>
        <button type="button" disabled={isFirst} onClick={() => show(ladder.previous ?? 1)}>
          Earlier
        </button>
        <span role="status">{first && last ? `Packets ${first.packet} to ${last.packet} of ${ladder.packets}` : 'No packets here'}</span>
        <button type="button" disabled={isLast} onClick={() => show(ladder.next ?? ladder.last)}>
          Later
        </button>
        <button type="button" disabled={isLast} onClick={() => show(ladder.last)}>
          Last
        </button>
      </div>
      <div class="bar2 noprint" role="group" aria-label="Find packets">
        <button type="button" disabled={previous === null} onClick={() => previous !== null && find(previous)}>
          Previous retransmission
        </button>
        <button type="button" disabled={next === null} onClick={() => next !== null && find(next)}>
          Next retransmission
        </button>
        <label>
          From time{' '}
          <input
            class="instant"
            type="number"
            min="0"
            step="any"
            value={shown.time ?? ''}
            onKeyDown={(event) => {
              if (event.key === 'Enter') move({ time: Math.max(0, event.currentTarget.valueAsNumber || 0) });
            }}
          />{' '}
          s (Enter)
        </label>
      </div>
    </>
  );
}

function Key({ ladder }: { ladder: Ladder }) {
  return (
    <p class="key">
      {ladder.kinds.map((kind) => (
        <span key={kind.label}>
          <i class={`line ${kind.hue}`} />
          {kind.label}
        </span>
      ))}
      <span>
        <i class="line ink" />
        solid: up to the capture
      </span>
      <span>
        <i class="line ink dashed" />
        dashed: beyond it, arrival not seen
      </span>
    </p>
  );
}

/** The packets: a table with an arrow in each row. */
function Rows({ ladder, target }: { ladder: Ladder; target: number | undefined }) {
  const width = widthOf();
  const holder = useRef<HTMLDivElement>(null);
  const first = ladder.rows[0]?.packet;
  useEffect(() => {
    const element = holder.current;
    const row = element?.querySelector<HTMLElement>('tr.on th');
    if (row) row.focus();
    else if (element) element.scrollTop = 0;
  }, [first, target]);
  const end = (name: 'client' | 'server') => (
    <span>
      {name === 'client' ? 'Client' : 'Server'}
      <br />
      {ladder[name]}
      {ladder.captured_at === name && (
        <>
          <br />
          <b>captured here</b>
        </>
      )}
    </span>
  );
  return (
    // biome-ignore lint: a region that scrolls has to be reachable by keyboard
    <div ref={holder} class="wrap ladder" role="region" aria-label="Ladder of packets" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col" class="n">
              Packet
            </th>
            <th scope="col" class="n">
              Time, s
            </th>
            <th scope="col" class="n hide">
              Since last, s
            </th>
            <th scope="col" class="ends">
              {end('client')}
              {end('server')}
            </th>
            <th scope="col">Remark</th>
            <th scope="col" class="n">
              Seq
            </th>
            <th scope="col" class="n">
              Ack
            </th>
            <th scope="col" class="n">
              Length, byte
            </th>
            <th scope="col" class="n">
              Window, byte
            </th>
          </tr>
        </thead>
        <tbody>
          {ladder.rows.map((row) => (
            <tr key={row.packet} class={row.packet === target ? 'on' : ''}>
              <th scope="row" class="n" tabIndex={-1}>
                {row.packet}
              </th>
              <td class="n">{row.time}</td>
              <td class="n hide">{row.since}</td>
              <td class="arrow">
                <span class="sr">
                  {row.is_from_client ? 'Client to server: ' : 'Server to client: '}
                  {row.flags}
                </span>
                <Arrow row={row} capturedAt={ladder.captured_at} width={width} />
              </td>
              <td class="remark">{row.note}</td>
              <td class="n">{row.seq}</td>
              <td class="n">{row.ack}</td>
              <td class="n">{row.payload}</td>
              <td class="n">{row.window}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** An arrow between the lines of both ends: solid from the sender to the place of the capture, dashed beyond. */
function Arrow({ row, capturedAt, width }: { row: Packet; capturedAt: Ladder['captured_at']; width: number }) {
  const [client, server] = [MARGIN, width - MARGIN];
  const [begin, end] = row.is_from_client ? [client, server] : [server, client];
  const middle = { client, server, none: width / 2 }[capturedAt ?? 'none'];
  const back = row.is_from_client ? -7 : 7;
  const colour = `var(--${row.hue})`;
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true">
      <path class="ends" d={`M${client} 0V${HEIGHT + 1}M${server} 0V${HEIGHT + 1}`} />
      {begin !== middle && <path d={`M${begin} ${LINE}H${middle}`} stroke={colour} stroke-width="2" />}
      {middle !== end && <path d={`M${middle} ${LINE}H${end}`} stroke={colour} stroke-width="2" stroke-dasharray="5 3" />}
      <path d={`M${end} ${LINE}l${back} -4v8z`} fill={colour} />
      <text x={width / 2} y={LINE - 6} text-anchor="middle">
        {row.label}
      </text>
    </svg>
  );
}
