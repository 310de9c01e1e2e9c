import type { Schemas } from '../api/client';
import { Command, Section, Wide } from '../app/parts';
import { LineChart, Sparkline } from './charts';

type Run = Schemas['LiveColumn'];
type Ue = Schemas['LiveUe'];

interface Props {
  column: Run;
  /** The runs beside each other, which share the scales of curves. */
  columns: readonly Run[];
  /** Time that the curves cover, in seconds. */
  spanS: number;
  /** Whether the clock has moved. */
  hasBegun: boolean;
  isPair: boolean;
}

/** One run of a session, or an emulation: totals, DCHs and queues, users, and the last notable events. */
export function Column({ column, columns, spanS, hasBegun, isPair }: Props) {
  const further = column.users - column.ues.length;
  const rates = { 'to the UEs': column.total.rate_kbps, 'from the UEs': column.total.uplink_kbps };
  const totals = columns.map((one) => one.total);
  const buffers = { 'at the RNC': column.total.buffer, 'at the UEs': column.total.uplink_buffer };
  return (
    <div class="live">
      {isPair && <h2>{column.label}</h2>}
      <dl class="m">
        {column.counts.map((one) => (
          <div key={one.label}>
            <dt>{one.label}</dt>
            <dd>{one.count.toLocaleString('en-GB')}</dd>
          </div>
        ))}
        {column.metrics.map((metric) => (
          <div key={metric.name}>
            <dt>{metric.label}</dt>
            <dd>
              {metric.text} <span>{metric.unit}</span>
            </dd>
          </div>
        ))}
      </dl>
      <div class={isPair ? '' : 'two'}>
        <LineChart title="Delivered by RLC, all users" unit="kbit/s" end={column.point_ends_s.at(-1)} span={spanS} curves={rates} most={largest(totals, (total) => [...total.rate_kbps, ...total.uplink_kbps])} />
        <LineChart title="RLC buffers, all users" unit="byte" end={column.point_ends_s.at(-1)} span={spanS} curves={buffers} most={largest(totals, (total) => [...total.buffer, ...total.uplink_buffer])} />
      </div>
      <div class={isPair ? '' : 'two'}>
        <Cells column={column} hasBegun={hasBegun} />
        <Links column={column} />
      </div>
      <Section title="Users" note={`rates are means of the last second${further > 0 ? `; ${further} further users are not shown` : ''}`}>
        <Users column={column} columns={columns} spanS={spanS} isPair={isPair} />
      </Section>
      <Section title="Last events" note="newest first; of block sets with errors only the last one">
        {column.notable.length === 0 ? (
          <p class="small">No {column.has_tcp && 'timeout, '}lost packet, lost block or switch yet.</p>
        ) : (
          <ol class="events">
            {column.notable.map((event, number) => (
              <li key={number}>
                <b>{event.time}</b> {event.ue !== null && `UE ${event.ue}: `}
                {event.text}.
              </li>
            ))}
          </ol>
        )}
      </Section>
      {column.command && <Command text={column.command} />}
    </div>
  );
}

function Cells({ column, hasBegun }: { column: Run; hasBegun: boolean }) {
  if (!column.cells.length) {
    return (
      <Section title="DCHs">
        <p class="small">
          {hasBegun
            ? "The users of this scenario keep their channels. The table shows the channel of each."
            : "RRC states and reserved DCHs are shown when the run has begun: Play, or go on by one event."}
        </p>
      </Section>
    );
  }
  return (
    <Section title="DCHs" note="reserved rates include the common channels">
      {column.cells.map((cell) => (
        <div key={cell.name} class="cell">
          <p>
            <b>{cell.name}</b> {cell.dchs}
            {cell.most_dchs !== null && ` of ${cell.most_dchs}`} {cell.dchs === 1 && cell.most_dchs === null ? 'DCH' : 'DCHs'}, {cell.reserved} reserved in the downlink{cell.is_full ? '. No DCH is free.' : '.'}
          </p>
          {cell.share !== null && <progress max={1} value={cell.share} aria-label={`Reserved downlink rate of ${cell.name}`} />}
          <p class="chips">
            {cell.holders.map((ue) => (
              <span key={ue} class="chip dch">
                UE {ue}
              </span>
            ))}
            {cell.waiting.map(({ ue, answer }) => (
              <span key={`w${ue}`} class="chip">
                UE {ue}: {answer}
              </span>
            ))}
          </p>
        </div>
      ))}
    </Section>
  );
}

function Links({ column }: { column: Run }) {
  if (!column.links.length) return null;
  return (
    <Section title="Queues of the core network" note="bytes that wait or are being sent, and the time that they take">
      <Wide label={`Queues of the core network ${column.label}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Link</th>
              <th scope="col" class="n">To the UEs</th>
              <th scope="col" class="n">From the UEs</th>
            </tr>
          </thead>
          <tbody>
            {column.links.map((link) => (
              <tr key={link.name}>
                <td>{link.name}</td>
                <td class="n">{link.downlink}</td>
                <td class="n">{link.uplink}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Section>
  );
}

/** The largest value of all users of all runs, so that their curves have one scale. */
function largest<T>(all: T[], values: (one: T) => (number | null)[]): number {
  return all.reduce((most, one) => values(one).reduce<number>((least, value) => Math.max(least, value ?? 0), most), 0);
}

function Users({ column, columns, spanS: span, isPair }: Omit<Props, 'hasBegun'>) {
  const { ues } = column;
  const all: Ue[] = columns.flatMap((one) => one.ues);
  const [rate, buffer, cwnd] = [largest(all, (ue) => ue.history.rate_kbps), largest(all, (ue) => ue.history.buffer), largest(all, (ue) => ue.history.cwnd)];
  const hasBuffers = !(isPair && column.has_cwnd);
  const hasStates = ues.some((ue) => ue.state !== null);
  const hasCells = ues.some((ue) => ue.cell !== '');
  const heading = (what: string, most: number, unit: string) => (
    <th scope="col" class="hide">
      {what}, last {span} s
      <small>
        0 to {most.toLocaleString('en-GB', { maximumFractionDigits: 1 })} {unit}
      </small>
    </th>
  );
  return (
    <Wide label={`Users ${column.label}`}>
      <table class="users">
        <thead>
          <tr>
            <th scope="col">UE</th>
            {hasCells && <th scope="col">Cell</th>}
            {hasStates && <th scope="col">RRC state</th>}
            {!isPair && (
              <th scope="col">
                Channels<small>down, up</small>
              </th>
            )}
            <th scope="col" class="n">
              Rate down<small>kbit/s</small>
            </th>
            {!isPair && (
              <th scope="col" class="n hide">
                Rate up<small>kbit/s</small>
              </th>
            )}
            {heading('Rate down', rate, 'kbit/s')}
            <th scope="col" class="n">
              RLC buffer<small>down, byte</small>
            </th>
            {!isPair && (
              <th scope="col" class="n hide">
                RLC buffer<small>up, byte</small>
              </th>
            )}
            {hasBuffers && heading('Buffer down', buffer, 'byte')}
            {column.has_nodeb_queue && (
              <>
                <th scope="col" class="n">
                  Node B queue<small>PDUs</small>
                </th>
                <th scope="col" class="n hide">
                  Node B queue<small>byte</small>
                </th>
                <th scope="col" class="n hide">
                  Credits<small>unused, PDUs</small>
                </th>
              </>
            )}
            {column.has_cwnd && (
              <>
                <th scope="col" class="n">
                  cwnd<small>segments</small>
                </th>
                {heading('cwnd', cwnd, 'segments')}
              </>
            )}
            {!isPair && (
              <th scope="col" class="n hide">
                Blocks lost<small>down, %</small>
              </th>
            )}
            {column.has_tcp && (
              <>
                <th scope="col" class="n">Timeouts</th>
                <th scope="col" class="n hide">Sent again</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {ues.map((ue) => (
            <tr key={ue.ue}>
              <th scope="row">
                {ue.ue} <span class="small">{ue.name}</span>
              </th>
              {hasCells && <td>{ue.cell}</td>}
              {hasStates && (
                <td>
                  <span class={`state ${ue.state ?? ''}`}>{ue.state ?? '–'}</span>
                  {ue.towards && <span class="small"> to {ue.towards}</span>}
                </td>
              )}
              {!isPair && <td>{[ue.downlink, ue.uplink].map((channel) => channel ?? '–').join(', ')}</td>}
              <td class="n">{ue.rate}</td>
              {!isPair && <td class="n hide">{ue.uplink_rate}</td>}
              <td class="hide">
                <Sparkline values={ue.history.rate_kbps} most={rate} />
              </td>
              <td class="n">{ue.buffer}</td>
              {!isPair && <td class="n hide">{ue.uplink_buffer}</td>}
              {hasBuffers && (
                <td class="hide">
                  <Sparkline values={ue.history.buffer} most={buffer} />
                </td>
              )}
              {column.has_nodeb_queue && (
                <>
                  <td class="n">{ue.nodeb_queue?.pdus ?? '–'}</td>
                  <td class="n hide">{ue.nodeb_queue?.octets ?? '–'}</td>
                  <td class="n hide">{ue.nodeb_queue?.credits ?? '–'}</td>
                </>
              )}
              {column.has_cwnd && (
                <>
                  <td class="n">{ue.cwnd}</td>
                  <td class="hide">
                    <Sparkline values={ue.history.cwnd} most={cwnd} />
                  </td>
                </>
              )}
              {!isPair && <td class="n hide">{ue.bler}</td>}
              {column.has_tcp && (
                <>
                  <td class="n">{ue.timeouts ?? '–'}</td>
                  <td class="n hide">{ue.retransmissions ?? '–'}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
