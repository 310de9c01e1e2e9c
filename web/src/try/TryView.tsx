import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failed, path, post, type Schemas } from '../api/client';
import { usePage } from '../app/context';
import { useTitle, Waiting } from '../app/parts';
import { go } from '../app/route';
import { lazy } from '../app/lazy';
import { useLoaded } from '../app/useLoaded';
import { openLive } from '../live/open';
import { Keys } from './Keys';
import { ResultView } from './ResultView';

export type Form = Schemas['ScenarioForm'];
export type Mistake = Schemas['Mistake'];
export type Tried = Schemas['Tried'];
/** Values that differ from the file's, by key. */
export type Changes = Readonly<Record<string, string>>;

const Editor = lazy(() => import('./Editor').then((code) => code.Editor));

/** Simulated time of longer scenarios, unless another is chosen: the result is there while a slider moves. */
const QUICK = '60 s';
const QUICK_S = 60;
/** Pause in typing after which a changed file is run. */
const TYPING_MS = 300;

/** A scenario beside its result, which is computed again on every change. */
export function TryView({ name, query }: { name: string; query: URLSearchParams }) {
  const loaded = useLoaded<Form>(path`/api/scenarios/${name}`);
  const form = loaded.content;
  useTitle(form && `Try it: ${form.title}`);
  if (!form) return <Waiting of={loaded} what="the scenario" />;
  const length: Changes = form.duration_s > QUICK_S ? { duration: QUICK } : {};
  return <Trial form={form} initial={{ ...length, ...changesOf(query) }} />;
}

function changesOf(query: URLSearchParams): Changes {
  return Object.fromEntries(
    query.getAll('set').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function Trial({ form, initial }: { form: Form; initial: Changes }) {
  const { about, say } = usePage();
  const [changes, setChanges] = useState<Changes>(initial);
  const [text, setText] = useState<string | undefined>();
  const [showsFile, setShowsFile] = useState(false);
  const { result, before, mistakes, problem, hold } = useTrial(form, changes, text);
  const change = (key: string, value: string | undefined) => {
    const { [key]: _, ...rest } = changes;
    setChanges(value === undefined ? rest : { ...rest, [key]: value });
  };
  useEffect(() => {
    const words = Object.entries(changes).map(([key, value]) => ['set', `${key}=${value}`]);
    const address = `/try/${encodeURIComponent(form.name)}${words.length ? `?${new URLSearchParams(words)}` : ''}`;
    if (address !== location.pathname + location.search) go(address, 'replace');
  }, [changes]);
  const keep = () => {
    const overrides = Object.entries(changes).map(([key, value]) => ({ key, value }));
    post('/api/jobs', { scenario: form.name, overrides, ...(text !== undefined && { text }) })
      .then(() => say('The scenario is running. A link to the run appears above.'))
      .catch((error: Error) => say(error.message));
  };
  const watch = () => {
    const overrides = Object.entries(changes).map(([key, value]) => ({ key, value }));
    openLive({ scenario: form.name, overrides, ...(text !== undefined && { text }) }).catch((error: Error) => say(error.message));
  };
  const keys = useMemo(() => new Set(form.keys.map((key) => key.key)), [form]);
  const count = Object.keys(changes).length;
  return (
    <>
      <div class="head">
        <h1>Try it: {form.title}</h1>
        <span class="small">{[form.name, form.source].filter(Boolean).join(', ')}</span>
        <button type="button" onClick={watch}>
          Open live
        </button>
      </div>
      <div class="split">
        <form onSubmit={(event) => event.preventDefault()} onPointerDown={hold}>
          <Keys form={form} changes={changes} change={change} mistakes={mistakes.filter((mistake) => mistake.line === null)}>
            <button type="button" disabled={!count} onClick={() => setChanges({})}>
              Reset {count} {count === 1 ? 'key' : 'keys'}
            </button>
            <button type="button" aria-pressed={showsFile} onClick={() => setShowsFile(!showsFile)}>
              File
            </button>
          </Keys>
          {showsFile && <Editor text={text ?? form.text} change={setText} mistakes={mistakes} reset={() => setText(undefined)} isChanged={text !== undefined} />}
        </form>
        <ResultView
          result={result}
          before={before}
          mistakes={mistakes}
          problem={problem}
          keep={about.read_only ? undefined : keep}
          isFileChanged={text !== undefined}
          keys={keys}
        />
      </div>
    </>
  );
}

type TryResult = Schemas['TryResult'];
type TryRequest = Schemas['TryRequest'];

/**
 * Runs a scenario. With `isFirst`, keys with a mistake are left at the file's values, so that there is a
 * result beside the mistakes.
 */
async function tryOut(body: string, isFirst: boolean): Promise<TryResult> {
  const request = JSON.parse(body) as TryRequest;
  const tried = await post<TryResult>('/api/try', request);
  const wrong = new Set(tried.mistakes.map((mistake) => mistake.key));
  if (!isFirst || !wrong.size || wrong.has(null)) return tried;
  const overrides = request.overrides?.filter((override) => !wrong.has(override.key)) ?? [];
  const { result } = await post<TryResult>('/api/try', { ...request, overrides });
  return { ...tried, result };
}

interface Trialled {
  result: Tried | undefined;
  /** The result from before the drag or the last change. */
  before: Tried | undefined;
  mistakes: Mistake[];
  problem: string | undefined;
  /** Keeps the current result as the one before, until the pointer is released. */
  hold: () => void;
}

/**
 * Runs the scenario again after each change: one request at a time, the latest values next. A mistake
 * keeps the last valid result.
 */
function useTrial(form: Form, changes: Changes, text: string | undefined): Trialled {
  const { say } = usePage();
  const [result, setResult] = useState<Tried>();
  const [before, setBefore] = useState<Tried>();
  const [mistakes, setMistakes] = useState<Mistake[]>([]);
  const [problem, setProblem] = useState<string>();
  const latest = useRef<{ body: string; isOfDrag: boolean } | undefined>(undefined);
  const isBusy = useRef(false);
  const isHeld = useRef(false);
  const shown = useRef<Tried | undefined>(undefined);
  const wanted = useMemo(() => {
    const overrides = Object.entries(changes).map(([key, value]) => ({ key, value }));
    return JSON.stringify({ scenario: form.name, overrides, ...(text !== undefined && { text }) });
  }, [form, changes, text]);
  const run = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      while (latest.current !== undefined) {
        const { body, isOfDrag } = latest.current;
        latest.current = undefined;
        const tried = await tryOut(body, shown.current === undefined);
        setMistakes(tried.mistakes);
        setProblem(undefined);
        if (tried.result) {
          if (!isOfDrag && shown.current) setBefore(shown.current);
          shown.current = tried.result;
          setResult(tried.result);
          const first = tried.result.metrics[0];
          if (first && latest.current === undefined) say(`${first.label} ${first.text} ${first.unit}`);
        }
        if (tried.mistakes[0]) say(tried.mistakes[0].message);
      }
    } catch (error) {
      setProblem(error instanceof Failed ? error.message : String(error));
    } finally {
      isBusy.current = false;
    }
  };
  useEffect(() => {
    // The result may arrive after the end of the drag that asked for it.
    latest.current = { body: wanted, isOfDrag: isHeld.current };
    const timer = setTimeout(() => void run(), text === undefined ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  return {
    result,
    before,
    mistakes,
    problem,
    hold: () => {
      if (shown.current) setBefore(shown.current);
      isHeld.current = true;
      const release = () => {
        isHeld.current = false;
        removeEventListener('pointerup', release);
        removeEventListener('pointercancel', release);
      };
      // Of the window: the pointer may leave the form.
      addEventListener('pointerup', release);
      addEventListener('pointercancel', release);
    },
  };
}
