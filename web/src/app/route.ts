import { useEffect, useState } from 'preact/hooks';

/** The current address: its path, and the parameters after the question mark. */
export interface Route {
  path: string;
  query: URLSearchParams;
}

const read = (): Route => ({ path: location.pathname, query: new URLSearchParams(location.search) });
const listeners = new Set<() => void>();

/** Moves to an address of this page. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address);
  for (const listener of listeners) listener();
}

export function useRoute(): Route {
  const [route, set] = useState(read);
  useEffect(() => {
    const update = () => set(read());
    listeners.add(update);
    addEventListener('popstate', update);
    addEventListener('click', follow);
    return () => {
      listeners.delete(update);
      removeEventListener('popstate', update);
      removeEventListener('click', follow);
    };
  }, []);
  return route;
}

/** Follows a link to a view of this page without loading the page again. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = (event.target as Element | null)?.closest?.('a');
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname.startsWith('/api/') || link.pathname.endsWith('.txt') || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
  scrollTo(0, 0);
}
