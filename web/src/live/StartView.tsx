import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client';
import { usePage } from '../app/context';
import { Section, useTitle, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { openLive } from './open';

type Home = Schemas['Home'];
type Override = Schemas['Override'];

/** The keys of a text with one "key = value" per line. */
function overridesOf(text: string): Override[] {
  const lines = text.split('\n').filter((line) => line.trim());
  return lines.map((line) => {
    const [key = '', ...value] = line.split('=');
    return { key: key.trim(), value: value.join('=').trim() };
  });
}

/** The open sessions, and a form to start one. */
export function StartView({ query }: { query: URLSearchParams }) {
  const { about, live } = usePage();
  useTitle('Live');
  return (
    <>
      <h1>Live cell</h1>
      <p>Watch a simulation while it runs: stop it, go step by step, or go back. Watch an emulation of real programs, and change its network.</p>
      <Section title="Running emulations" note={live.emulations.length ? '' : 'none'}>
        {live.emulations.length > 0 ? (
          <ul class="list">
            {live.emulations.map((emulation) => (
              <li key={emulation.id}>
                <span>
                  <a href={`/live/${emulation.id}`}>{emulation.title}</a>
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="small">
            Start one in a terminal, with the results folder of this page: <code>umts emulate --live --out {about.store} -- COMMAND</code>. It appears here.
          </p>
        )}
      </Section>
      <Section title="Open sessions" note={live.sessions.length ? '' : 'none'}>
        {live.sessions.length > 0 && (
          <ul class="list">
            {live.sessions.map((session) => (
              <li key={session.id}>
                <span>
                  <a href={`/live/${session.id}`}>{session.title}</a>
                </span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Open a scenario live">
        <Form first={query.get('scenario') ?? 'ftp-fach-dch'} />
      </Section>
    </>
  );
}

function Form({ first }: { first: string }) {
  const loaded = useLoaded<Home>('/api/home');
  const [scenario, setScenario] = useState(first);
  const [changes, setChanges] = useState('');
  const [beside, setBeside] = useState('');
  const [problem, setProblem] = useState<string>();
  const start = () => {
    const second = overridesOf(beside);
    openLive({ scenario, overrides: overridesOf(changes), beside: second.length ? second : null }).catch((error: Error) => setProblem(error.message));
  };
  const home = loaded.content;
  if (!home) return <Waiting of={loaded} what="the scenarios" />;
  return (
    <form
      class="start"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <label>
        Scenario
        <select value={scenario} onChange={(event) => setScenario(event.currentTarget.value)}>
          {home.scenarios.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}: {one.title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Changed keys, one per line
        <textarea rows={2} placeholder="radio.bler = 0.1" value={changes} onInput={(event) => setChanges(event.currentTarget.value)} />
      </label>
      <label>
        Second run beside it on the same radio: the keys that differ, or empty
        <textarea rows={2} placeholder="tcp.variant = sack" value={beside} onInput={(event) => setBeside(event.currentTarget.value)} />
      </label>
      {problem && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      <button type="submit">Open live</button>
    </form>
  );
}
