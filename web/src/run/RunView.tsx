import { useState } from 'preact/hooks';
import { path, post, type Schemas } from '../api/client';
import { Bar, Swatch } from '../app/causes';
import { Command, type Head, Section, Table, useTitle, Waiting } from '../app/parts';
import { go } from '../app/route';
import { useLoaded } from '../app/useLoaded';
import { ConnectionTable } from './ConnectionTable';
import { Headlines } from './Headlines';
import { LanesView } from './LanesView';
import { RecordTimeline, type Stalls, StallTable } from './StallTable';
import { Timeline } from './Timeline';
import { setView, useView } from './view';

export type RunPage = Schemas['RunPage'];
export type Connections = Schemas['Connections'];

/** One run: metrics, budget, connections over RRC state, figures, captures, and its command. */
export function RunView({ id }: { id: string }) {
  const loaded = useLoaded<RunPage>(path`/api/runs/${id}`);
  const connections = useLoaded<Connections>(path`/api/runs/${id}/connections`);
  const stalls = useLoaded<Stalls>(loaded.content?.has_timeline ? path`/api/runs/${id}/stalls` : undefined);
  // The time in view is left out, so that a movement of the time line does not render the whole page.
  const chosen = useView((view) => view.connection);
  const event = useView((view) => view.event);
  const choose = (connection: number | undefined) => {
    setView(connection === undefined ? {} : { connection });
  };
  const run = loaded.content;
  useTitle(run && `${run.title}, run ${run.run}`);
  if (!run) return <Waiting of={loaded} what="the run" />;
  const connection = connections.content?.rows.find((row) => row.connection === chosen);
  return (
    <>
      <Head run={run} />
      <Command text={run.command} />
      {run.other_code && (
        <p class="note">
          This run was made by code {run.code}. This page is of code {run.other_code}. The run's numbers are shown; running
          again may differ.
        </p>
      )}
      <Headlines run={run} />
      <div class="two">
        {run.budget ? (
          <BudgetSection run={run} budget={run.budget} connection={connection} />
        ) : (
          <p class="note">
            This run recorded no time budget. Record it: <code>umts run … --budget --series</code>
          </p>
        )}
        <div>
          {!run.has_timeline && <NoTimeline run={run} />}
          <Waiting of={stalls} what="stalls" />
          {stalls.content && (
            <StallTable
              stalls={stalls.content}
              open={event}
              choose={(id) => {
                const stall = stalls.content?.stalls.find((candidate) => candidate.id === id);
                if (stall) setView({ connection: stall.connection, event: id });
              }}
            />
          )}
        </div>
      </div>
      <LanesView id={id} chosenUe={connection?.ue ?? undefined} choose={(ue) => choose(connections.content?.rows.find((row) => row.ue === ue)?.connection)} />
      {stalls.content && connections.content && (
        <Timeline
          id={id}
          stalls={stalls.content}
          connection={stalls.content.stalls[0]?.connection ?? connections.content.rows[0]?.connection ?? 0}
        />
      )}
      <Waiting of={connections} what="connections" />
      {connections.content && <ConnectionTable table={connections.content} chosen={chosen} choose={choose} />}
      <Figures id={id} run={run} />
      <CaptureFiles id={id} run={run} />
      <AllMetrics run={run} />
    </>
  );
}

/** Offers to make a run again that recorded no timeline. */
function NoTimeline({ run }: { run: RunPage }) {
  const [isStarted, setStarted] = useState(false);
  const [error, setError] = useState<string>();
  const start = () => {
    setStarted(true);
    post(path`/api/runs/${run.key}/timeline`, {}).catch((failed: Error) => {
      setStarted(false);
      setError(failed.message);
    });
  };
  return (
    <>
      <RecordTimeline run={run} start={start} isStarted={isStarted} />
      {error && (
        <p class="banner" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

/** The title of a run, links to other views of it, and what was simulated. */
function Head({ run }: { run: RunPage }) {
  const of = run.replications > 1 ? `run ${run.run} of ${run.replications}` : `run ${run.run}`;
  return (
    <>
      <div class="head">
        <h1>{run.title}</h1>
        <div class="acts noprint">
          {run.can_try && (
            <a class="btn" href={`/try/${encodeURIComponent(run.scenario)}${tryQuery(run)}`}>
              Try it
            </a>
          )}
          <a class="btn" href={path`/api/runs/${run.key}/report.html`} download>
            Save as one file
          </a>
          {run.others.length > 1 && (
            <select aria-label="Replication" value={run.key} onChange={(event) => go(`/run/${event.currentTarget.value}`)}>
              {run.others.map((other) => (
                <option key={other.key} value={other.key}>
                  run {other.run}
                </option>
              ))}
            </select>
          )}
        </div>
      </div>
      <p class="small">
        {run.scenario} · {of}, seed {run.seed} · {run.duration} {run.is_emulated ? 'emulated' : 'simulated'} · Varied:{' '}
        {run.changes.length ? run.changes.map((change) => `${change.label} ${change.value}`).join(', ') : 'nothing, all keys as in the file'}{' '}
        · code {run.code}
      </p>
    </>
  );
}

/** The changes of a run as parameters of the view "Try it". */
function tryQuery(run: RunPage): string {
  const query = new URLSearchParams(run.changes.map((change) => ['set', `${change.key}=${change.value}`]));
  return run.changes.length ? `?${query}` : '';
}

/** The time of all connections by cause, beside that of the chosen connection. */
function BudgetSection(props: {
  run: RunPage;
  budget: NonNullable<RunPage['budget']>;
  connection: Connections['rows'][number] | undefined;
}) {
  const { run, budget, connection } = props;
  const ofConnection = new Map(connection?.budget.map((part) => [part.cause, part]));
  const heads: Head[] = ['Cause', ['All, s', 'n'], ['%', 'n']];
  if (run.replications > 1) heads.push([`${run.replications} runs, %`, 'n']);
  if (connection) heads.push([`Conn. ${connection.connection}, s`, 'n'], ['%', 'n']);
  return (
    <Section title="Where the time went" note="the time of all connections by cause" class="narrow">
      <div class="bl">
        <span>All connections</span>
        <span>{budget.total}</span>
      </div>
      <Bar parts={budget.parts} height={24} label="All connections" />
      {connection && (
        <>
          <div class="bl">
            <span>
              Connection {connection.connection}
              {connection.ue !== null && `, UE ${connection.ue}`}
            </span>
            <span>{connection.total}</span>
          </div>
          <Bar parts={connection.budget} height={14} label={`Connection ${connection.connection}`} />
        </>
      )}
      <Table label="Time by cause" heads={heads}>
        {budget.parts.map((part) => (
          <tr key={part.cause}>
            <td>
              <Swatch cause={part.cause} />
              {part.label}
            </td>
            <td class="n">{part.text}</td>
            <td class="n">{part.share_text}</td>
            {run.replications > 1 && <td class="n small">{part.interval}</td>}
            {connection && (
              <>
                <td class="n">{ofConnection.get(part.cause)?.text ?? '0'}</td>
                <td class="n">{ofConnection.get(part.cause)?.share_text ?? '0'}</td>
              </>
            )}
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Figures({ id, run }: { id: string; run: RunPage }) {
  const [opened, setOpened] = useState<readonly string[]>([]);
  if (!run.figures.length) {
    return (
      <Section title="Figures">
        <p>
          This run recorded no time series. Record them: <code>umts run … --series --budget</code>
        </p>
      </Section>
    );
  }
  return (
    <Section title="Figures" note="drawn when opened; umts plot draws them with other ranges and sizes">
      <div class="figures">
        {run.figures.map((figure) => (
          <details
            key={figure.name}
            onToggle={(event) => {
              if (event.currentTarget.open && !opened.includes(figure.name)) setOpened([...opened, figure.name]);
            }}
          >
            <summary>
              {figure.name} <span class="small">{figure.shows}</span>
            </summary>
            {opened.includes(figure.name) && <img src={path`/api/runs/${id}/figures/${figure.name}` + '.svg'} alt={`${figure.name}: ${figure.shows}`} />}
          </details>
        ))}
      </div>
    </Section>
  );
}

function CaptureFiles({ id, run }: { id: string; run: RunPage }) {
  return (
    <Section title="Captures">
      {run.captures.length ? (
        <ul class="list">
          {run.captures.map((capture) => (
            <li key={capture.name}>
              <span>
                <a href={`/captures?run=${id}&name=${encodeURIComponent(capture.name)}`}>{capture.name}</a>
                <span>{capture.size}</span>
              </span>
              <a href={path`/api/runs/${id}/captures/${capture.name}`} download>
                Download
              </a>
            </li>
          ))}
        </ul>
      ) : (
        <p>
          This run recorded no captures. Record them: <code>umts run … --pcap</code>
        </p>
      )}
    </Section>
  );
}

function AllMetrics({ run }: { run: RunPage }) {
  return (
    <Section title="All metrics">
      <details>
        <summary>{run.metrics.length} metrics</summary>
        <Table label="All metrics" heads={['Metric', ['Value', 'n'], 'Unit', [`${run.replications} runs`, 'n'], 'Meaning']}>
          {run.metrics.map((metric) => (
            <tr key={metric.name}>
              <td class="t">
                {metric.label}
                <br />
                <code class="small">{metric.name}</code>
              </td>
              <td class="n">{metric.text}</td>
              <td>{metric.unit}</td>
              <td class="n small">{metric.interval}</td>
              <td class="t small">{metric.meaning}</td>
            </tr>
          ))}
        </Table>
      </details>
    </Section>
  );
}
