import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { Schemas } from '../api/client';
import { axes, Chart } from '../app/Chart';
import { Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { GRAPHS, type Graph, type Shown, show } from './address';

type Graphs = Schemas['Graphs'];

/** A graph of one curve: its values, what they are, their unit, and whether they are drawn as dots. A limit may be drawn above it. */
interface Single {
  curve: (graphs: Graphs) => Schemas['Curve'];
  text: (graphs: Graphs) => string;
  unit: string;
  hasDots: boolean;
  limit?: (graphs: Graphs) => Limit;
}

/** A curve that limits another one, and why it is incomplete, or an empty text. */
interface Limit {
  curve: Schemas['Curve'];
  text: string;
  note: string;
}

const SINGLES: Partial<Record<Graph, Single>> = {
  throughput: { curve: (graphs) => graphs.throughput, text: (graphs) => `payload sent, means of ${graphs.window}`, unit: 'kbit/s', hasDots: false },
  rtt: { curve: (graphs) => graphs.round_trips, text: () => 'from a segment that was sent once to its acknowledgment', unit: 's', hasDots: true },
  window: {
    curve: (graphs) => graphs.in_flight,
    text: () => 'bytes out: sent and not acknowledged',
    unit: 'byte',
    hasDots: false,
    limit: (graphs) => ({ curve: graphs.receive_window, text: 'receive window: advertised by the receiver, scaled', note: graphs.receive_window_note }),
  },
};

const stepped = uPlot.paths.stepped?.({ align: 1 });

/** TCP stream graphs of one connection. */
export function GraphsView({ address, number, shown }: { address: string; number: number; shown: Shown }) {
  const loaded = useLoaded<Graphs>(address);
  const kind = shown.graph ?? 'tcptrace';
  const graphs = loaded.content;
  return (
    <Section title={`TCP stream graphs of connection ${number}`}>
      <div class="kinds bar2" role="group" aria-label="Graph">
        {(Object.keys(GRAPHS) as Graph[]).map((choice) => (
          <button key={choice} type="button" aria-pressed={choice === kind} onClick={() => show({ ...shown, graph: choice })}>
            {GRAPHS[choice]}
          </button>
        ))}
      </div>
      {graphs ? <Drawing graphs={graphs} kind={kind} /> : <Waiting of={loaded} what="the graphs" />}
    </Section>
  );
}

function Drawing({ graphs, kind }: { graphs: Graphs; kind: Graph }) {
  const data = useMemo(() => dataOf(graphs, kind), [graphs, kind]);
  const single = SINGLES[kind];
  const limit = single?.limit?.(graphs);
  const hasLimit = limit !== undefined && limit.curve.time_s.length > 0;
  const { segments, retransmissions } = graphs.sent;
  const label = single
    ? `${GRAPHS[kind]} in ${single.unit}: ${single.text(graphs)}${hasLimit ? `; ${limit.text}` : ''}`
    : `Sequence numbers over time: ${segments} segments, ${retransmissions} of them sent again`;
  if (!data[0].length) return <p>This capture has no values for this graph.</p>;
  return (
    <>
      <p class="key">
        {single ? (
          <>
            <span>
              <i class="line ink" />
              {single.text(graphs)}
            </span>
            {hasLimit && (
              <span>
                <i class="line window" />
                {limit?.text}
              </span>
            )}
          </>
        ) : (
          <>
            <span>
              <i class="line ink" />
              segment, {segments} in all
            </span>
            <span>
              <i class="line rto" />
              sent again, {retransmissions}
            </span>
            {kind === 'tcptrace' && (
              <span>
                <i class="line prop" />
                acknowledged
              </span>
            )}
          </>
        )}
      </p>
      <Chart
        key={kind}
        label={label}
        height={320}
        data={data}
        options={(colour) => ({
          legend: { show: false },
          cursor: { drag: { x: true, y: false } },
          scales: { x: { time: false }, ...(single && { y: { range: (_, __, most) => [0, 1.05 * most] } }) },
          axes: axes(colour, 's', single?.unit ?? 'byte'),
          series: single
            ? [{}, single.hasDots ? dots(colour('ink'), 3) : line(colour('ink')), ...(hasLimit ? [line(colour('window'))] : [])]
            : sequence(kind, colour),
        })}
      />
      {limit?.note && <p class="note">{limit.note}</p>}
    </>
  );
}

/** The look of a series that is drawn as a line with steps. */
function line(stroke: string): uPlot.Series {
  return { stroke, width: 1.5, spanGaps: true, points: { show: false }, ...(stepped && { paths: stepped }) };
}

/** The look of a series that is drawn as dots. */
function dots(colour: string, size: number): uPlot.Series {
  return { paths: () => null, stroke: colour, points: { show: true, size, fill: colour } };
}

/** The looks of the series of a graph of sequence numbers, in the order of `dataOf`. */
function sequence(kind: Graph, colour: (name: string) => string): uPlot.Series[] {
  const shown = [{}, dots(colour('ink'), 3), dots(colour('rto-e'), 6)];
  return kind === 'tcptrace' ? [...shown, line(colour('prop'))] : shown;
}

/** The times and series of a graph: one curve, or segments, segments sent again and acknowledgments. */
function dataOf(graphs: Graphs, kind: Graph): uPlot.AlignedData {
  const table = (curve: Schemas['Curve']): uPlot.AlignedData => [curve.time_s, curve.value];
  const single = SINGLES[kind];
  const limit = single?.limit?.(graphs).curve;
  if (single && limit?.time_s.length) return uPlot.join([single.curve(graphs), limit].map(inOrder).map(table));
  if (single) return table(single.curve(graphs));
  const sent = [inOrder(graphs.sent.new), inOrder(graphs.sent.again)].map(table);
  return uPlot.join(kind === 'tcptrace' ? [...sent, table(graphs.acked)] : sent);
}

/** uPlot joins tables by their times, one row per time: of segments sent at once the last one is drawn. */
function inOrder(curve: Schemas['Curve']): Schemas['Curve'] {
  const last = new Map(curve.time_s.map((time, i) => [time, curve.value[i] ?? 0]));
  return { time_s: [...last.keys()], value: [...last.values()] };
}
