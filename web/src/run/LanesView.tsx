import { useEffect, useRef, useState } from 'preact/hooks';
import { path, type Schemas } from '../api/client';
import { useLooks } from '../app/causes';
import { usePage } from '../app/context';
import { Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { draw, lanesHeight, rowAt } from './drawLanes';

type Lanes = Schemas['Lanes'];

interface Props {
  id: string;
  chosenUe: number | undefined;
  choose: (ue: number) => void;
}

/** One row per UE: causes of its connections above, its RRC states below, idle time folded. */
export function LanesView({ id, chosenUe, choose }: Props) {
  const [first, setFirst] = useState(0);
  const loaded = useLoaded<Lanes | null>(path`/api/runs/${id}/lanes` + `?first=${first}`);
  const lanes = loaded.content;
  if (lanes === null) {
    return (
      <Section title="Connections over RRC state">
        <p>
          This run recorded no budget intervals. Record them: <code>umts run … --series --budget</code>
        </p>
      </Section>
    );
  }
  if (!lanes) return <Waiting of={loaded} what="connections over RRC state" />;
  const last = first + lanes.rows.length;
  const hasStates = lanes.rows.some((row) => row.states.length > 0);
  return (
    <Section
      title="Connections over RRC state"
      note={`One row per UE. ${hasStates ? 'Upper bar: causes. Lower strip: CELL_FACH light, CELL_DCH dark, a switch orange.' : 'The UEs keep their channels: there are no RRC states.'} ▲ timeout needed, △ spurious.`}
    >
      {lanes.ues > lanes.rows.length && (
        <p class="bar2 noprint">
          <button type="button" disabled={first === 0} onClick={() => setFirst(Math.max(0, first - 32))}>
            ‹ Previous UEs
          </button>
          <span class="small">
            UE {lanes.rows[0]?.ue} to {lanes.rows.at(-1)?.ue}, of {lanes.ues}
          </span>
          <button type="button" disabled={last >= lanes.ues} onClick={() => setFirst(last)}>
            Next UEs ›
          </button>
        </p>
      )}
      <LaneCanvas lanes={lanes} chosenUe={chosenUe} choose={choose} />
      <details class="noprint">
        <summary>As a table</summary>
        <ul>
          {lanes.rows.map((row) => (
            <li key={row.ue}>
              UE {row.ue}: {row.text || 'no connection'}; {row.timeouts.length} timeouts
            </li>
          ))}
        </ul>
      </details>
    </Section>
  );
}

function LaneCanvas({ lanes, chosenUe, choose }: { lanes: Lanes; chosenUe: number | undefined; choose: (ue: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { theme } = usePage();
  const looks = useLooks();
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current && width) draw(canvas.current, lanes, looks, width, chosenUe);
  }, [lanes, width, theme, chosenUe]);
  return (
    <div class="lanes">
      <canvas
        ref={canvas}
        height={lanesHeight(lanes)}
        role="img"
        aria-label={`Connections of ${lanes.rows.length} UEs over RRC state. The table below has the same.`}
        onClick={(event) => {
          const row = lanes.rows[rowAt(event.offsetY)];
          if (row) choose(row.ue);
        }}
      />
    </div>
  );
}
