import { useRef, useState } from 'preact/hooks';
import { path, type Schemas, upload } from '../api/client';
import { usePage } from '../app/context';
import { Section, useTitle, Waiting, Wide } from '../app/parts';
import { go } from '../app/route';
import { useLoaded } from '../app/useLoaded';
import { show, shownIn } from './address';
import { GraphsView } from './GraphsView';
import { LadderView } from './LadderView';

type Capture = Schemas['Capture'];

/** A capture of a run, or one that is dropped here: what umts analyse says of it, and its graphs. */
export function CapturesView({ query }: { query: URLSearchParams }) {
  const { about } = usePage();
  const address = addressOf(query);
  useTitle('Captures');
  return (
    <>
      <h1>Captures</h1>
      {about.read_only ? <p class="note">This page is read-only. Analyse a file yourself: <code>umts analyse FILE</code></p> : <Drop />}
      {address && <Analysis key={address} address={address} query={query} />}
    </>
  );
}

/** The address of the analysis: of an upload, or of a run's capture. */
function addressOf(query: URLSearchParams): string | undefined {
  const [id, run, name] = [query.get('id'), query.get('run'), query.get('name')];
  if (id) return path`/api/captures/${id}`;
  return run && name ? path`/api/runs/${run}/captures/${name}` : undefined;
}

/** Uploads a capture that is dropped or chosen, and shows its analysis. */
function Drop() {
  const input = useRef<HTMLInputElement>(null);
  const [message, setMessage] = useState<string>();
  const [isOver, setOver] = useState(false);
  const send = (file: File | undefined) => {
    if (!file) return;
    setMessage(`Uploading ${file.name} …`);
    upload<Schemas['Uploaded']>(`/api/captures?name=${encodeURIComponent(file.name)}`, file)
      .then((kept) => {
        setMessage(undefined);
        go(`/captures?id=${kept.id}`);
      })
      .catch((error: Error) => setMessage(error.message));
  };
  return (
    <div
      class={`drop${isOver ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        send(event.dataTransfer?.files[0]);
      }}
    >
      <label for="capture">Drop a capture here (pcap or pcapng, at most 256 MB), or choose one: </label>
      <input id="capture" ref={input} type="file" onChange={(event) => send(event.currentTarget.files?.[0])} />
      <p role="status">{message}</p>
    </div>
  );
}

/** The connections and metrics of a capture, and the graphs of the chosen connection. */
function Analysis({ address, query }: { address: string; query: URLSearchParams }) {
  const isUpload = address.startsWith('/api/captures/');
  const loaded = useLoaded<Capture>(isUpload ? address : `${address}/analysis`);
  const capture = loaded.content;
  if (!capture) return <Waiting of={loaded} what="the analysis" />;
  const parts = shownIn(query);
  const shown = parts.connection ?? capture.rows[0]?.connection;
  // The ladder of another connection begins with its first packet.
  const choose = (connection: number) => show({ connection, ...(parts.graph && { graph: parts.graph }) });
  return (
    <>
      <Section title={capture.name} note={`${capture.duration}, ${capture.connections} TCP connections`}>
        {capture.warnings.map((warning) => (
          <p class="note" key={warning}>
            {warning}
          </p>
        ))}
        <Wide label="Connections of the capture">
          <table>
            <thead>
              <tr>
                <th scope="col">Connection</th>
                <th scope="col">Client</th>
                <th scope="col">Server</th>
                <th scope="col" class="hide">Captured at</th>
                {capture.columns.map((column) => (
                  <th key={column.name} scope="col" class="n">
                    {column.label}
                    {column.unit && `, ${column.unit}`}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {capture.rows.map((row) => (
                <tr key={row.connection} class={row.connection === shown ? 'on' : ''}>
                  <td>
                    <button type="button" class="plain" aria-pressed={row.connection === shown} onClick={() => choose(row.connection)}>
                      {row.connection}
                    </button>
                  </td>
                  <td>{row.client}</td>
                  <td>{row.server}</td>
                  <td class="hide">{row.position}</td>
                  {row.values.map((value, i) => (
                    <td key={capture.columns[i]?.name} class="n">
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
        {capture.connections > capture.rows.length && <p class="small">The first {capture.rows.length} of {capture.connections} connections are shown.</p>}
      </Section>
      {shown !== undefined && <GraphsView key={`graphs-${shown}`} address={`${address}/connections/${shown}`} number={shown} shown={parts} />}
      {shown !== undefined && <LadderView key={`ladder-${shown}`} address={`${address}/connections/${shown}`} number={shown} shown={parts} />}
      <Section title="Metrics" note="of all connections, as umts analyse prints them">
        <MetricTable label="First metrics of the capture" metrics={capture.metrics.filter((metric) => metric.is_first)} />
        <details>
          <summary>The other {capture.metrics.filter((metric) => !metric.is_first).length} metrics</summary>
          <MetricTable label="Other metrics of the capture" metrics={capture.metrics.filter((metric) => !metric.is_first)} />
        </details>
      </Section>
    </>
  );
}

function MetricTable({ label, metrics }: { label: string; metrics: Capture['metrics'] }) {
  return (
    <Wide label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col" class="n">Value</th>
            <th scope="col">Unit</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.name}>
              <td>{metric.label === metric.name ? <code>{metric.name}</code> : metric.label}</td>
              <td class="n">{metric.text}</td>
              <td>{metric.unit}</td>
              <td class="t small">{metric.meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
