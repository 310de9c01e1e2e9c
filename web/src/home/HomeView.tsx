import { useEffect, useRef, useState } from 'preact/hooks';
import { type Schemas, post } from '../api/client';
import { Bar } from '../app/causes';
import { usePage } from '../app/context';
import { Section, Table, useTitle, Waiting } from '../app/parts';
import { go } from '../app/route';
import { useLoaded } from '../app/useLoaded';
import { openLive } from '../live/open';

type Home = Schemas['Home'];

const KINDS = ['All', 'Runs', 'Campaigns', 'Studies', 'Reproductions', 'Scenarios', 'Reports'] as const;
type Kind = (typeof KINDS)[number];

/** Everything in the store, with a search. The address holds the search. */
export function HomeView({ query }: { query: URLSearchParams }) {
  const { about, live } = usePage();
  const finished = live.jobs.filter((job) => job.state === 'done').length;
  const loaded = useLoaded<Home>('/api/home', finished);
  useTitle(undefined);
  const word = query.get('q') ?? '';
  const kind = KINDS.find((name) => name === query.get('kind')) ?? 'All';
  const home = loaded.content;
  const found = home && searched(home, word);
  const count = found ? KINDS.slice(1).reduce((sum, other) => sum + (kind === 'All' || kind === other ? found[other].length : 0), 0) : 0;
  return (
    <>
      <h1>Store {about.store.split('/').at(-1)}</h1>
      <Search word={word} kind={kind} />
      <p class="small" role="status">
        {word && found && (count ? `${count} ${count === 1 ? 'row matches' : 'rows match'}` : `Nothing matches "${word}". Clear the search or choose another kind.`)}
      </p>
      <Waiting of={loaded} what="the store" />
      {home && home.damage.length > 0 && (
        <p class="banner">
          {home.damage.length} of this store's files are damaged, and left out. See: <code>umts doctor {about.store}</code>
        </p>
      )}
      {found && <Sections found={found} home={home} kind={kind} word={word} />}
    </>
  );
}

function Search({ word, kind }: { word: string; kind: Kind }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const show = (q: string, chosen: Kind) => {
    const parameters = new URLSearchParams({ ...(q && { q }), ...(chosen !== 'All' && { kind: chosen }) });
    const text = parameters.toString();
    go(text ? `/?${text}` : '/', 'replace');
  };
  return (
    <div class="find" role="search">
      <input
        ref={input}
        type="search"
        value={word}
        placeholder="Find a run, scenario or key"
        aria-label="Find a run, scenario or key"
        onInput={(event) => show(event.currentTarget.value, kind)}
      />
      <div class="kinds" role="group" aria-label="Kind">
        {KINDS.map((choice) => (
          <button key={choice} type="button" aria-pressed={choice === kind} onClick={() => show(word, choice)}>
            {choice}
          </button>
        ))}
      </div>
    </div>
  );
}

interface Found {
  Runs: Home['runs'];
  Campaigns: Home['campaigns'];
  Studies: Home['studies'];
  Reproductions: Home['reproductions'];
  Scenarios: Home['scenarios'];
  Reports: Home['reports'];
}

/** The rows that contain a word, by kind. */
function searched(home: Home, word: string): Record<Kind, unknown[]> & Found {
  const wanted = word.toLowerCase();
  const matching = <T extends object>(rows: T[]) =>
    rows.filter((row) => !wanted || Object.values(row).join(' ').toLowerCase().includes(wanted));
  return {
    All: [],
    Runs: matching(home.runs),
    Campaigns: matching(home.campaigns),
    Studies: matching(home.studies),
    Reproductions: matching(home.reproductions),
    Scenarios: matching(home.scenarios),
    Reports: matching(home.reports),
  };
}

function Sections({ found, home, kind, word }: { found: Found; home: Home; kind: Kind; word: string }) {
  const { about } = usePage();
  const isShown = (section: keyof Found) => (kind === 'All' || kind === section) && (!word || found[section].length > 0);
  return (
    <>
      {isShown('Runs') && (
        <Section
          title="Runs"
          note={
            home.results > home.runs.length
              ? `the newest ${home.runs.length} of ${home.results}; numbers are means over the runs. Longest wait: the largest cause that is a wait`
              : 'newest first; numbers are means over the runs. Longest wait: the largest cause that is a wait'
          }
        >
          {!home.runs.length && (
            <p>
              {about.has_store
                ? 'No runs yet. Run a shipped scenario below.'
                : `There is no store at ${about.store}. Run a shipped scenario below, or make one:`}{' '}
              {!about.has_store && <code>umts run scenarios/ftp-fach-dch.toml --series --budget</code>}
            </p>
          )}
          {found.Runs.length > 0 && <Runs rows={found.Runs} />}
        </Section>
      )}
      {isShown('Campaigns') && <Campaigns rows={found.Campaigns} />}
      {isShown('Studies') && <Studies rows={found.Studies} />}
      {isShown('Reproductions') && <Reproductions rows={found.Reproductions} />}
      {isShown('Scenarios') && <Scenarios rows={found.Scenarios} />}
      {isShown('Reports') && found.Reports.length > 0 && (
        <Section title="Reports" note="pages that umts report wrote">
          <ul class="list">
            {found.Reports.map((report) => (
              <li key={report.name}>
                <span>
                  <a href={`/api/reports/${encodeURIComponent(report.name)}`} target="_blank" rel="noreferrer">
                    {report.name}
                  </a>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Runs({ rows }: { rows: Found['Runs'] }) {
  return (
    <Table
      label="Runs"
      heads={[
        ['Time', 'hide'], 'Scenario', ['Varied', 'hide'], ['Runs', 'n hide'], ['Simulated, s', 'n hide'],
        ['Goodput, kbit/s', 'n hide'], ['Mean RTT, s', 'n hide'], ['Timeouts', 'n'], 'Where the time went', 'Longest wait',
      ]}
    >
      {rows.map((row) => (
        <tr key={row.key}>
          <td class="hide">{row.made_at ? new Date(row.made_at).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' }) : ''}</td>
          <td class="t">
            <a href={`/run/${row.key}`}>{row.scenario}</a> <span class="small hide">{row.title}</span>
            {row.is_emulated && <span class="small"> emulated</span>}
          </td>
          <td class="t hide">{row.varied ? <code>{row.varied}</code> : <span class="small">nothing</span>}</td>
          <td class="n hide">{row.runs}</td>
          <td class="n hide">{row.simulated}</td>
          <td class="n hide">{row.goodput}</td>
          <td class="n hide">{row.mean_rtt}</td>
          <td class="n">{row.timeouts}</td>
          <td>{row.budget.length ? <Bar parts={row.budget} height={12} label={row.scenario} /> : <span class="small">no budget recorded</span>}</td>
          <td class="small">{row.longest_wait ?? (row.budget.length ? 'none' : '')}</td>
        </tr>
      ))}
    </Table>
  );
}

function Campaigns({ rows }: { rows: Found['Campaigns'] }) {
  return (
    <Section title="Campaigns" note={rows.length ? '' : 'none. Make one with umts sweep.'}>
      {rows.length > 0 && (
        <Table label="Campaigns" heads={['Campaign', ['Points', 'n'], ['Runs', 'n'], 'Varied']}>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="t">
                <a href={`/campaign/${encodeURIComponent(row.name)}`}>{row.name}</a> <span class="small">{row.title}</span>
              </td>
              <td class="n">{row.points}</td>
              <td class="n">{row.runs}</td>
              <td class="t">{row.varied}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function Studies({ rows }: { rows: Found['Studies'] }) {
  return (
    <Section title="Studies" note={rows.length ? '' : 'none. Make one with umts optimise or umts sensitivity.'}>
      {rows.length > 0 && (
        <Table label="Studies" heads={['Study', ['Method', 'hide'], 'Result']}>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="t">
                <a href={`/study/${encodeURIComponent(row.name)}`}>{row.name}</a> <span class="small">{row.title}</span>
              </td>
              <td class="t hide">{row.method}</td>
              <td class="t">{row.result}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function Reproductions({ rows }: { rows: Found['Reproductions'] }) {
  return (
    <Section title="Reproductions" note="claims of documents, run again">
      <Table label="Reproductions" heads={['Document', ['Claims', 'n'], 'Verdicts']}>
        {rows.map((row) => (
          <tr key={row.paper}>
            <td>
              <a href={`/reproduction/${encodeURIComponent(row.paper)}`}>{row.paper}</a>
            </td>
            <td class="n">{row.claims}</td>
            <td class="t">
              {row.verdicts
                ? Object.entries(row.verdicts).map(([verdict, count]) => `${count} ${verdict}`).join(', ')
                : 'not reproduced here yet'}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Scenarios({ rows }: { rows: Found['Scenarios'] }) {
  const { about, say } = usePage();
  const [problem, setProblem] = useState<string>();
  const run = (scenario: string) => {
    post('/api/jobs', { scenario })
      .then(() => say(`${scenario} is running.`))
      .catch((error: Error) => say(error.message));
  };
  const watch = (scenario: string) => {
    openLive({ scenario }).catch((error: Error) => setProblem(error.message));
  };
  return (
    <Section title="Scenarios" note="open one to change it and see the result, watch it live, or run it and keep the result">
      {problem && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      <ul class="list">
        {rows.map((row) => (
          <li key={row.name}>
            <span>
              <a href={`/try/${encodeURIComponent(row.name)}`}>{row.name}</a>
              <span>{row.title}</span>
            </span>
            <button type="button" class="plain" aria-label={`Open ${row.name} live`} onClick={() => watch(row.name)}>
              Live
            </button>
            {!about.read_only && (
              <button type="button" class="plain" aria-label={`Run ${row.name}`} onClick={() => run(row.name)}>
                Run
              </button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
