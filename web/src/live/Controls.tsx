import { useEffect, useState } from 'preact/hooks';
import type { Schemas } from '../api/client';
import { STATES } from './LiveView';

export type Order = Schemas['LiveControl']['order'];
type Step = Schemas['LiveStep']['by'];

const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const SPANS = [
  { span: 6, text: '6 s' },
  { span: 60, text: '60 s' },
  { span: 600, text: '10 min' },
] as const;

/** The steps with their keys. */
const STEPS: { by: Step; text: string; key: string }[] = [
  { by: 'event', text: 'Event', key: 'e' },
  { by: 'tti', text: 'TTI', key: 't' },
  { by: 'second', text: 'Second', key: 's' },
  { by: 'timeout', text: 'Timeout', key: 'o' },
  { by: 'loss', text: 'Lost packet', key: 'l' },
  { by: 'block_error', text: 'Lost block', key: 'b' },
  { by: 'switch', text: 'Switch', key: 'w' },
];

interface Props {
  session: Schemas['Live'];
  order: (order: Order) => void;
}

/** Play, pause, speed, steps, and the time that is shown. */
export function Controls({ session, order }: Props) {
  const moves = session.state === 'playing' || session.state === 'working';
  const hasEnded = session.state === 'ended';
  const toggle = () => order({ action: moves ? 'pause' : 'play' });
  const back = () => order({ action: 'go', time_s: Math.max(0, session.time_s - 1) });
  useKeys((key) => {
    const step = STEPS.find((one) => one.key === key);
    if (step && !hasEnded) order({ action: 'step', by: step.by });
    else if (key === 'p' && !hasEnded) toggle();
    else if (key === 'z') back();
    else return false;
    return true;
  });
  return (
    <section class="clock noprint" aria-label="Clock">
      <div class="bar2">
        <b class="instant">{session.time}</b>
        <span class="small">
          of {session.duration_s} s. {STATES[session.state]}
          {session.pace && `, ${session.pace}`}
        </span>
      </div>
      <div class="bar2">
        <button type="button" class="main" disabled={hasEnded} onClick={toggle} aria-keyshortcuts="p" title="Key P">
          {moves ? 'Pause' : 'Play'}
        </button>
        <label>
          Speed{' '}
          <select
            value={session.speed ?? 'most'}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              order({ action: 'speed', speed: chosen === 'most' ? null : Number(chosen) });
            }}
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>
                {speed.toLocaleString('en-GB')} × real time
              </option>
            ))}
            <option value="most">as fast as possible</option>
          </select>
        </label>
        <span class="kinds" role="group" aria-label="Go on to the next">
          <span class="small">Go on to the next</span>
          {STEPS.map(({ by, text, key }) => (
            <button
              key={by}
              type="button"
              disabled={hasEnded}
              title={`Key ${key.toUpperCase()}`}
              aria-keyshortcuts={key}
              onClick={() => order({ action: 'step', by })}
            >
              {text}
            </button>
          ))}
        </span>
        <span class="kinds" role="group" aria-label="Go back">
          <button type="button" disabled={!session.time_s} title="Key Z" aria-keyshortcuts="z" onClick={back}>
            Back 1 s
          </button>
          <button type="button" disabled={!session.time_s} onClick={() => order({ action: 'go', time_s: 0 })}>
            To the start
          </button>
        </span>
        <label>
          Charts show the last{' '}
          <select
            value={session.span_s}
            onChange={(event) => {
              const chosen = SPANS.find((one) => String(one.span) === event.currentTarget.value);
              if (chosen) order({ action: 'span', span_s: chosen.span });
            }}
          >
            {SPANS.map(({ span, text }) => (
              <option key={span} value={span}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Position session={session} order={order} />
      <p class="small read" role="status">
        {session.message}
      </p>
    </section>
  );
}

/** A slider over the whole run, and a field for an exact instant. */
function Position({ session, order }: Props) {
  const [dragged, setDragged] = useState<number>();
  const [typed, setTyped] = useState('');
  return (
    <form
      class="bar2"
      onSubmit={(event) => {
        event.preventDefault();
        const time = Number(typed.replace(/\s*s$/, ''));
        if (typed.trim() && time >= 0) order({ action: 'go', time_s: time });
        setTyped('');
      }}
    >
      <input
        type="range"
        aria-label="Time in seconds"
        min={0}
        max={session.duration_s}
        step="any"
        value={dragged ?? session.time_s}
        onInput={(event) => setDragged(Number(event.currentTarget.value))}
        onChange={(event) => {
          order({ action: 'go', time_s: Number(event.currentTarget.value) });
          setDragged(undefined);
        }}
      />
      <label class="go">
        Go to{' '}
        <input
          value={typed}
          inputMode="decimal"
          placeholder={dragged === undefined ? '27.04 s' : `${dragged.toFixed(1)} s`}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Go</button>
    </form>
  );
}

/** Calls `press` for a key without modifiers, unless text is being typed. */
function useKeys(press: (key: string) => boolean) {
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      const target = event.target as Element | null;
      if (event.ctrlKey || event.metaKey || event.altKey || target?.closest('input:not([type=range]), select, textarea')) return;
      if (press(event.key.toLowerCase())) event.preventDefault();
    };
    addEventListener('keydown', handle);
    return () => removeEventListener('keydown', handle);
  });
}
