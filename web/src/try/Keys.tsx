import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client';
import type { Changes, Form, Mistake } from './TryView';

type Key = Schemas['Key'];

interface Props {
  form: Form;
  changes: Changes;
  change: (key: string, value: string | undefined) => void;
  mistakes: Mistake[];
  children: ComponentChildren;
}

/** Maximum number of keys that are shown. */
const MAX_SHOWN = 40;

/** The keys of a scenario. Without a search: the first ones, those that are changed, and those with a mistake. */
export function Keys({ form, changes, change, mistakes, children }: Props) {
  const [word, setWord] = useState('');
  const wanted = word.trim().toLowerCase();
  const isShown = (key: Key) =>
    wanted
      ? `${key.key} ${key.label} ${key.help}`.toLowerCase().includes(wanted)
      : key.is_first || key.key in changes || mistakes.some((mistake) => mistake.key === key.key);
  const found = form.keys.filter(isShown);
  const shown = found.slice(0, MAX_SHOWN);
  const groups = [...new Set(shown.map((key) => key.group))];
  return (
    <>
      <div class="bar2">
        <input
          type="search"
          placeholder={`Find one of ${form.keys.length} keys`}
          aria-label="Find a key"
          value={word}
          onInput={(event) => setWord(event.currentTarget.value)}
        />
        {children}
      </div>
      {wanted && !found.length && <p class="small">No key matches "{word}".</p>}
      {groups.map((group) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {shown
            .filter((key) => key.group === group)
            .map((key) => (
              <Field
                key={key.key}
                of={key}
                value={changes[key.key] ?? key.value ?? ''}
                isChanged={key.key in changes}
                change={(value) => change(key.key, value)}
                mistake={mistakes.find((entry) => entry.key === key.key)}
              />
            ))}
        </fieldset>
      ))}
      {found.length > shown.length && <p class="small">{found.length - shown.length} more keys match: search for a longer word.</p>}
    </>
  );
}

interface FieldProps {
  of: Key;
  value: string;
  isChanged: boolean;
  change: (value: string | undefined) => void;
  mistake: Mistake | undefined;
}

/** A key with a slider, a list of choices or a text, its help, and its mistake. */
function Field({ of: key, value, isChanged, change, mistake }: FieldProps) {
  const id = `k-${key.key.replace(/\W/g, '-')}`;
  const set = (typed: string) => change(typed === key.value ? undefined : typed);
  const isSwitch = key.choices.some((choice) => choice.value === 'false');
  const meaning = isSwitch ? undefined : key.choices.find((choice) => choice.value === value)?.help;
  const described = `${id}-help${mistake ? ` ${id}-mistake` : ''}`;
  return (
    <div class={`k${isChanged ? ' on' : ''}${mistake ? ' bad' : ''}`}>
      <label for={id}>
        {key.label}
        <code>{key.key}</code>
      </label>
      {key.choices.length ? (
        <select id={id} value={value} aria-describedby={described} onChange={(event) => set(event.currentTarget.value)}>
          {key.choices.every((choice) => choice.value !== value) && <option value={value}>{value}</option>}
          {key.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {isSwitch ? (choice.value === 'true' ? 'on' : 'off') : choice.value}
            </option>
          ))}
        </select>
      ) : (
        <Slider of={key} value={value} set={set} />
      )}
      {!key.choices.length && (
        <div class="v">
          <input
            id={id}
            type="text"
            value={value}
            aria-invalid={Boolean(mistake)}
            aria-describedby={described}
            onInput={(event) => set(event.currentTarget.value)}
          />
        </div>
      )}
      {mistake && (
        <div class="msg" id={`${id}-mistake`}>
          <span>{mistake.message}</span>
          {mistake.repair !== null && (
            <button type="button" onClick={() => set(mistake.repair ?? '')}>
              Use {mistake.repair}
            </button>
          )}
        </div>
      )}
      <div class="help" id={`${id}-help`}>
        {key.help} {meaning && `${value}: ${meaning}`}
        {isChanged && (
          <>
            {' '}
            In the file: {key.value ?? 'not set'}.
            <button type="button" class="reset" aria-label={`Reset ${key.label}`} onClick={() => change(undefined)}>
              Reset
            </button>
          </>
        )}
      </div>
    </div>
  );
}

/** A slider over the stops of a key, and buttons for words such as "off". */
function Slider({ of: key, value, set }: { of: Key; value: string; set: (value: string) => void }) {
  if (!key.stops.length && !key.words.length) return <div />;
  const at = key.stops.indexOf(value);
  return (
    <div>
      {key.stops.length > 1 && (
        <>
          <input
            type="range"
            aria-label={key.label}
            aria-valuetext={value}
            min={0}
            max={key.stops.length - 1}
            value={at < 0 ? key.stops.indexOf(key.value ?? '') : at}
            onInput={(event) => set(key.stops[Number(event.currentTarget.value)] ?? value)}
          />
          <div class="rng" aria-hidden="true">
            <span>{key.stops[0]}</span>
            <span>{key.stops.at(-1)}</span>
          </div>
        </>
      )}
      {key.words.map((word) => (
        <button key={word} type="button" aria-pressed={value === word} onClick={() => set(word)}>
          {word}
        </button>
      ))}
    </div>
  );
}
