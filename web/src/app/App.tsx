import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { HomeView } from '../home/HomeView';
import { ReproductionView } from '../reproduction/ReproductionView';
import { RunView } from '../run/RunView';
import { Hatches } from './causes';
import { type About, PageContext } from './context';
import { JobBar } from './JobBar';
import { useLive } from './live';
import { type Route, useRoute } from './route';
import { lazy } from './lazy';
import { useLoaded } from './useLoaded';

// What only some views need, above all plots and the editor, is loaded with these views.
const CampaignView = lazy(() => import('../campaign/CampaignView').then((code) => code.CampaignView));
const CapturesView = lazy(() => import('../captures/CapturesView').then((code) => code.CapturesView));
const LiveView = lazy(() => import('../live/LiveView').then((code) => code.LiveView));
const StartView = lazy(() => import('../live/StartView').then((code) => code.StartView));
const StudyView = lazy(() => import('../study/StudyView').then((code) => code.StudyView));
const TryView = lazy(() => import('../try/TryView').then((code) => code.TryView));

export function App() {
  const route = useRoute();
  const live = useLive();
  const { content: about, error } = useLoaded<About>('/api/about');
  const [theme, setTheme] = useTheme();
  const spoken = useRef<HTMLParagraphElement>(null);
  const say = (text: string) => {
    if (spoken.current) spoken.current.textContent = text;
  };
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <b>umtslab</b>
        <nav aria-label="Views">
          <Tab to="/" route={route}>
            Home
          </Tab>
          <Tab to="/try/ftp-on-fach" route={route}>
            Try it
          </Tab>
          <Tab to="/live" route={route}>
            Live
          </Tab>
          <Tab to="/captures" route={route}>
            Captures
          </Tab>
        </nav>
        <button
          type="button"
          class="plain"
          aria-label={`Colour theme: ${theme}`}
          onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}
        >
          {theme === 'dark' ? 'Dark' : 'Light'}
        </button>
      </header>
      {live.lostAt && (
        <p class="banner" role="alert">
          The server stopped. Values are as of {live.lostAt.toLocaleTimeString()}. Start it: <code>umts serve</code>
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {error && <p class="banner">{error}</p>}
        {about && (
          <PageContext.Provider value={{ about, live, theme, say }}>
            <Hatches />
            <JobBar />
            <View route={route} />
          </PageContext.Provider>
        )}
      </main>
      <footer class="noprint small">
        {about && `umtslab ${about.version}`} <a href="/licences.txt">Licences of this page's parts</a>
      </footer>
      <p class="sr" role="status" ref={spoken} />
    </>
  );
}

function Tab({ to, route, children }: { to: string; route: Route; children: ComponentChildren }) {
  const first = `/${to.split('/')[1]}`;
  const isHere = first === '/' ? route.path === '/' : route.path.startsWith(first);
  return (
    <a href={to} {...(isHere ? { 'aria-current': 'page' as const } : {})}>
      {children}
    </a>
  );
}

/** Views of one object, which the rest of the address names. */
const OF_ONE_OBJECT = ['run', 'try', 'campaign', 'study', 'reproduction'];

function View({ route }: { route: Route }) {
  const [, view, ...rest] = route.path.split('/');
  const name = decoded(rest.join('/'));
  switch (OF_ONE_OBJECT.includes(view ?? '') && !name ? undefined : view) {
    case '':
      return <HomeView query={route.query} />;
    case 'run':
      return <RunView key={name} id={name} />;
    case 'try':
      return <TryView key={name} name={name} query={route.query} />;
    case 'live':
      return name ? <LiveView key={name} id={name} /> : <StartView query={route.query} />;
    case 'captures':
      return <CapturesView query={route.query} />;
    case 'campaign':
      return <CampaignView key={name} name={name} query={route.query} />;
    case 'study':
      return <StudyView key={name} name={name} />;
    case 'reproduction':
      return <ReproductionView key={name} paper={name} query={route.query} />;
    default:
      return (
        <>
          <h1>No view here</h1>
          <p>
            There is no view at this address. <a href="/">Home</a>
          </p>
        </>
      );
  }
}

/** Decodes a part of an address. An address that is not encoded correctly stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Theme = 'light' | 'dark';

function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, set] = useState<Theme>(() => {
    const chosen = localStorage.getItem('theme');
    if (chosen === 'light' || chosen === 'dark') return chosen;
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  });
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return [
    theme,
    (chosen) => {
      localStorage.setItem('theme', chosen);
      set(chosen);
    },
  ];
}
