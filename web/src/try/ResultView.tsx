import { Bar, Legend } from '../app/causes';
import { Command } from '../app/parts';
import { AcknowledgedPlot } from './AcknowledgedPlot';
import type { Mistake, Tried } from './TryView';

interface Props {
  result: Tried | undefined;
  before: Tried | undefined;
  mistakes: Mistake[];
  problem: string | undefined;
  keep: (() => void) | undefined;
  isFileChanged: boolean;
  /** The keys of the form, which show their mistakes themselves. */
  keys: ReadonlySet<string>;
}

/** The result of the current values, with the one before it in grey. */
export function ResultView({ result, before, mistakes, problem, keep, isFileChanged, keys }: Props) {
  const elsewhere = mistakes.filter((mistake) => mistake.line !== null || mistake.key === null || !keys.has(mistake.key));
  return (
    <div class="res" role="region" aria-label="Result">
      <div class="now">
        <h2>Result</h2>
        <span class="small">
          {result && `${result.duration_s} s simulated, run 0, seed ${result.seed}. Computed in ${result.took}.`}
          {result && mistakes.length > 0 && ' The values have a mistake: this is the last valid result.'}
        </span>
        {keep && (
          <button type="button" disabled={mistakes.length > 0} onClick={keep}>
            Run and keep
          </button>
        )}
      </div>
      {problem && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {elsewhere.map((mistake) => (
        <p class="banner" key={mistake.message}>
          {mistake.line !== null && `Line ${mistake.line}: `}
          {mistake.message}
        </p>
      ))}
      {result && <Numbers result={result} before={before} />}
      {result && (isFileChanged ? <p class="note">The file is changed here only. Save its text to a file to run it with umts run.</p> : <Command text={result.command} />)}
    </div>
  );
}

function Numbers({ result, before }: { result: Tried; before: Tried | undefined }) {
  const past = new Map(before?.metrics.map((metric) => [metric.name, metric.text]));
  return (
    <>
      {result.warnings.map((warning) => (
        <p class="note" key={warning}>
          {warning}
        </p>
      ))}
      <dl class="m" aria-label="Metrics">
        {result.metrics.map((metric) => (
          <div key={metric.name}>
            <dt>{metric.label}</dt>
            <dd>
              {metric.text} <span>{metric.unit}</span>
              {before && <span class="was">before {past.get(metric.name) ?? '–'}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <div class="bl">
        <span>Acknowledged at the sender, kB</span>
        <span class="key">
          <span>
            <i class="line ink" />
            now
          </span>
          {before && (
            <span>
              <i class="line ghost" />
              before
            </span>
          )}
          <span>▲ timeout</span>
        </span>
      </div>
      <AcknowledgedPlot now={result} before={before} />
      {result.budget.length > 0 && (
        <>
          <div class="bl">
            <span>Where the time went, now</span>
            <span>{result.budget_total}</span>
          </div>
          <Bar parts={result.budget} height={24} label="Now" />
        </>
      )}
      {before && before.budget.length > 0 && (
        <>
          <div class="bl">
            <span>before</span>
            <span>{before.budget_total}</span>
          </div>
          <div class="faint">
            <Bar parts={before.budget} height={10} label="Before" />
          </div>
        </>
      )}
      <Legend parts={result.budget} />
      <div class="mini" aria-hidden="true">
        {result.metrics.slice(0, 2).map((metric) => (
          <span key={metric.name}>
            {metric.label}{' '}
            <b>
              {metric.text} {metric.unit}
            </b>{' '}
            {before && `before ${past.get(metric.name) ?? '–'}`}
          </span>
        ))}
      </div>
    </>
  );
}
