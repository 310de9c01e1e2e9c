import { useEffect, useRef, useState } from 'preact/hooks';
import { path, post, type Schemas } from '../api/client';
import { usePage } from '../app/context';
import { useTitle } from '../app/parts';
import { go } from '../app/route';
import { Column } from './Column';
import { type Order, Controls } from './Controls';
import { EmulationView } from './EmulationView';

/** A live session or a running emulation. */
export function LiveView({ id }: { id: string }) {
  const { live } = usePage();
  useEffect(() => {
    live.watch(id);
    return () => live.watch(null);
  }, [id]);
  return live.emulation ? <EmulationView id={id} emulation={live.emulation} /> : <SessionView id={id} />;
}

/** A live session: controls of its clock, and each of its runs. */
function SessionView({ id }: { id: string }) {
  const { about, live, say } = usePage();
  const [problem, setProblem] = useState<string>();
  const session = live.session;
  useTitle(session && `Live: ${session.title}`);
  useSpoken(session);
  const send = (address: string, content: unknown) =>
    post(address, content).then(
      () => setProblem(undefined),
      (error: Error) => {
        setProblem(error.message);
        say(error.message);
      },
    );
  const order = (wanted: Order) => void send(path`/api/live/${id}/control`, { order: wanted });
  if (live.problem) {
    return (
      <>
        <h1>Live cell</h1>
        {live.run ? (
          <p class="note" role="status">
            {live.problem} <a href={`/run/${live.run}`}>Open its run</a>
          </p>
        ) : (
          <p class="banner" role="alert">
            {live.problem} <a href="/live">Live</a>
          </p>
        )}
      </>
    );
  }
  if (!session) {
    return (
      <>
        <h1>Live cell</h1>
        <p class="small">Loading the session …</p>
      </>
    );
  }
  const isPair = session.columns.length > 1;
  return (
    <>
      <div class="head">
        <h1>Live: {session.title}</h1>
        <span class="small">
          {session.scenario}, seed {session.seed}
          {isPair && ', two runs with the same radio and one clock'}
        </span>
        {session.state === 'ended' && !about.read_only && (
          <button type="button" onClick={() => void send(path`/api/live/${id}/keep`, {}).then(() => say('The run is made again and kept. A link to it appears above.'))}>
            {isPair ? 'Keep these runs' : 'Keep this run'}
          </button>
        )}
        <button type="button" onClick={() => void send(path`/api/live/${id}/end`, {}).then(() => go('/live'))}>
          End session
        </button>
      </div>
      {problem && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      <Controls session={session} order={order} />
      <div class={isPair ? 'two' : ''}>
        {session.columns.map((column, number) => (
          <Column key={number} column={column} columns={session.columns} spanS={session.span_s} hasBegun={session.time_s > 0} isPair={isPair} />
        ))}
      </div>
    </>
  );
}

/** Says to screen readers when the clock starts, stops or has news, and not while it runs. */
function useSpoken(session: Schemas['Live'] | undefined) {
  const { say } = usePage();
  const last = useRef('');
  const text = session ? `${session.message} ${STATES[session.state]}` : '';
  useEffect(() => {
    if (session && last.current && last.current !== text) {
      say(session.state === 'playing' ? text : `${text} at ${session.time}.`);
    }
    last.current = text;
  }, [text]);
}

export const STATES: Record<Schemas['Live']['state'], string> = {
  paused: 'Paused',
  playing: 'Playing',
  working: 'Running to the next stop',
  ended: 'Ended',
};
