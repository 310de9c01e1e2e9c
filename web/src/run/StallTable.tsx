import type { Schemas } from '../api/client';
import { Bar } from '../app/causes';
import { Section } from '../app/parts';

export type Stalls = Schemas['Stalls'];

interface Props {
  stalls: Stalls;
  open: string | undefined;
  choose: (event: string) => void;
}

/** The stalls of a run, the longest first. A row opens its chain of causes. */
export function StallTable({ stalls, open, choose }: Props) {
  if (!stalls.stall_count) {
    return (
      <Section title="Stalls">
        <p>No stall of {stalls.limit} or more in this run.</p>
      </Section>
    );
  }
  const shown = stalls.stalls.length;
  const all = shown < stalls.stall_count ? `The longest ${shown} of ${stalls.stall_count}` : `${stalls.stall_count} in this run`;
  return (
    <Section
      title="Stalls, longest first"
      note={`${stalls.limit} or more without a new acknowledgment while data is in flight. ${all}. Choose one to see its causes.`}
    >
      <div class="wrap tall" role="region" aria-label="Stalls, longest first" tabIndex={0}>
        <table class="stalls">
          <thead>
            <tr>
              <th scope="col">Start</th>
              <th scope="col">Connection</th>
              <th scope="col" class="n">Length</th>
              <th scope="col" class="n hide">Timeouts</th>
              <th scope="col">Cause</th>
              <th scope="col" class="hide">Time by cause</th>
            </tr>
          </thead>
          <tbody>
            {stalls.stalls.map((stall) => (
              <tr key={stall.id} class={stall.id === open ? 'on' : ''}>
                <td>
                  <button
                    type="button"
                    class="plain"
                    aria-pressed={stall.id === open}
                    aria-label={`Causes of the stall at ${stall.start}, connection ${stall.connection}`}
                    onClick={() => choose(stall.id)}
                  >
                    {stall.start}
                  </button>
                </td>
                <td>
                  {stall.connection}, UE {stall.ue} ({stall.of_ue})
                </td>
                <td class="n">{stall.length}</td>
                <td class="n hide">{stall.timeouts}</td>
                <td>{stall.cause}</td>
                <td class="hide">
                  <div style={{ width: `${stall.scale_pct}%` }}>
                    <Bar parts={stall.parts} height={12} label={`Stall at ${stall.start}`} />
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** What a run without a timeline shows: the command that records one, and a button that does so. */
export function RecordTimeline(props: { run: Schemas['RunPage']; start: () => void; isStarted: boolean }) {
  const { run } = props;
  return (
    <Section title="Stalls">
      <p>
        This run recorded no timeline, so the causes of its stalls are unknown. Record it: <code>{run.timeline_command}</code>
      </p>
      {run.can_record_timeline && (
        <p class="bar2 noprint">
          <button type="button" disabled={props.isStarted} onClick={props.start}>
            Run again with a timeline
          </button>
          {props.isStarted && <span class="small">The run is at the top of the page.</span>}
        </p>
      )}
    </Section>
  );
}

