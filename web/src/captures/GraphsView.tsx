import { useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Schemas } from '../api/client';
import { axes, Chart } from '../app/Chart';
import { Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';

type Graphs = Schemas['Graphs'];

/** Names as in Wireshark's menu of TCP stream graphs. */
const KINDS = ['Time Sequence (Stevens)', 'Time Sequence (tcptrace)', 'Throughput'] as const;
type Kind = (typeof KINDS)[number];

const stepped = uPlot.paths.stepped?.({ align: 1 });

/** TCP stream graphs of one connection. */
export function GraphsView({ address, number }: { address: string; number: number }) {
  const loaded = useLoaded<Graphs>(address);
  const [kind, setKind] = useState<Kind>('Time Sequence (tcptrace)');
  const graphs = loaded.content;
  return (
    <Section title={`TCP stream graphs of connection ${number}`}>
      <div class="kinds bar2" role="group" aria-label="Graph">
        {KINDS.map((one) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => setKind(one)}>
            {one}
          </button>
        ))}
      </div>
      {graphs ? <Graph graphs={graphs} kind={kind} /> : <Waiting of={loaded} what="the graphs" />}
    </Section>
  );
}

function Graph({ graphs, kind }: { graphs: Graphs; kind: Kind }) {
  const data = useMemo(() => dataOf(graphs, kind), [graphs, kind]);
  const isRate = kind === 'Throughput';
  const { segments, retransmissions } = graphs.sent;
  const label = isRate
    ? `Throughput in kbit/s, means of ${graphs.window}`
    : `Sequence numbers over time: ${segments} segments, ${retransmissions} of them sent again`;
  return (
    <>
      <p class="key">
        {isRate ? (
          <span>
            <i class="line ink" />
            payload sent, means of {graphs.window}
          </span>
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
            {kind === 'Time Sequence (tcptrace)' && (
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
          scales: { x: { time: false } },
          axes: axes(colour, 's', isRate ? 'kbit/s' : 'byte'),
          series: isRate ? [{}, line(colour('ink'))] : sequence(kind, colour),
        })}
      />
    </>
  );
}

function line(stroke: string): uPlot.Series {
  return { stroke, width: 1.5, spanGaps: true, points: { show: false }, ...(stepped && { paths: stepped }) };
}

function sequence(kind: Kind, colour: (name: string) => string): uPlot.Series[] {
  const dots = (name: string, size: number): uPlot.Series => ({
    paths: () => null,
    stroke: colour(name),
    points: { show: true, size, fill: colour(name) },
  });
  const shown = [{}, dots('ink', 3), dots('rto-e', 6)];
  return kind === 'Time Sequence (tcptrace)' ? [...shown, line(colour('prop'))] : shown;
}

function dataOf(graphs: Graphs, kind: Kind): uPlot.AlignedData {
  const table = (curve: Schemas['Curve']): uPlot.AlignedData => [curve.time_s, curve.value];
  if (kind === 'Throughput') return table(graphs.throughput);
  const sent = [inOrder(graphs.sent.new), inOrder(graphs.sent.again)].map(table);
  return uPlot.join(kind === 'Time Sequence (tcptrace)' ? [...sent, table(graphs.acked)] : sent);
}

/** uPlot joins tables by their times, one row per time: of segments sent at once the last one is drawn. */
function inOrder(curve: Schemas['Curve']): Schemas['Curve'] {
  const last = new Map(curve.time_s.map((time, i) => [time, curve.value[i] ?? 0]));
  return { time_s: [...last.keys()], value: [...last.values()] };
}
