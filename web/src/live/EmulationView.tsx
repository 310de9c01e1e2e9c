import { useEffect, useRef, useState } from 'preact/hooks';
import { path, post, type Schemas } from '../api/client';
import { usePage } from '../app/context';
import { Section, useTitle } from '../app/parts';
import { Column } from './Column';

type Emulation = Schemas['LiveEmulation'];

/** A running emulation: its fidelity, controls of its network, and the state of its users. */
export function EmulationView({ id, emulation }: { id: string; emulation: Emulation }) {
  const { about } = usePage();
  useTitle(`Live: ${emulation.command}`);
  useSpoken(emulation);
  const others = emulation.programs > 1 ? `UEs 0 to ${emulation.programs - 1} run programs.` : 'UE 0 runs the command.';
  return (
    <>
      <div class="head">
        <h1>Live: {emulation.command}</h1>
        <span class="small">
          emulation of {emulation.scenario}, seed {emulation.seed}. {others}
        </span>
      </div>
      {emulation.silent_s > 0 && (
        <p class="banner" role="alert">
          The emulation has not answered for {emulation.silent_s} s. Values are as of {emulation.time}.
        </p>
      )}
      {emulation.fidelity.is_degraded && (
        <p class="banner" role="alert">
          <b>DEGRADED</b>: {emulation.fidelity.reason}
        </p>
      )}
      <section class="clock" aria-label="Clock">
        <div class="bar2">
          <b class="instant">{emulation.time}</b>
          <span class="small">
            of real time. Fidelity: {emulation.fidelity.is_degraded ? 'DEGRADED' : 'ok'}, {emulation.fidelity.summary}. Round-trip time of the programs:{' '}
            {emulation.rtt}.
          </span>
        </div>
        {about.read_only ? <p class="small">This page is read-only: it has no controls of the network.</p> : <Network id={id} emulation={emulation} />}
        {emulation.faults.length > 0 && (
          <p class="small">
            Faults that a program has set: {emulation.faults.join('; ')}
          </p>
        )}
      </section>
      <Column column={emulation.column} spanS={emulation.span_s} hasBegun={emulation.time_s > 0} columns={[emulation.column]} isPair={false} />
      <Section title="Fidelity" note={emulation.fidelity.is_degraded ? 'DEGRADED' : 'ok so far'}>
        <dl class="m">
          {emulation.fidelity.values.map((one) => (
            <div key={one.label}>
              <dt>{one.label}</dt>
              <dd>{one.value}</dd>
            </div>
          ))}
        </dl>
      </Section>
    </>
  );
}

/** Choices of rate, block errors and coverage, for all tabs and for the programs at once. */
function Network({ id, emulation }: { id: string; emulation: Emulation }) {
  const { say } = usePage();
  const [problem, setProblem] = useState<string>();
  const choose = (control: Schemas['EmulationChoices'], choice: number) =>
    post(path`/api/emulations/${id}/control`, { control: control.name, choice }).then(
      () => {
        setProblem(undefined);
        say(`${control.label}: ${control.choices[choice] ?? ''}.`);
      },
      (error: Error) => {
        setProblem(error.message);
        say(error.message);
      },
    );
  return (
    <>
      <div class="bar2" role="group" aria-label="Network">
        {emulation.controls.map((control) =>
          control.choices.length ? (
            <label key={control.name}>
              {control.label}{' '}
              <select value={control.chosen ?? ''} onChange={(event) => void choose(control, Number(event.currentTarget.value))}>
                {control.chosen === null && <option value="">set by a program</option>}
                {control.choices.map((choice, number) => (
                  <option key={number} value={number}>
                    {choice}
                  </option>
                ))}
              </select>
            </label>
          ) : null,
        )}
      </div>
      {emulation.controls.map((control) =>
        control.choices.length ? null : (
          <p key={control.name} class="small">
            {control.label}: {control.note}
          </p>
        ),
      )}
      {problem && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** Says to screen readers when the emulation becomes degraded. */
function useSpoken(emulation: Emulation) {
  const { say } = usePage();
  const last = useRef(false);
  const { is_degraded: isDegraded, reason } = emulation.fidelity;
  useEffect(() => {
    if (isDegraded && !last.current) say(`Degraded: ${reason}`);
    last.current = isDegraded;
  }, [isDegraded]);
}
