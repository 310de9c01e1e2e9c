import { useEffect, useState } from 'preact/hooks';

/** The state of the run page. It is kept in the fragment of the address, as in `#c=3&t=1-2.5`. */
export interface View {
  connection?: number;
  /** Start and end of the visible time, in seconds. */
  from?: number;
  to?: number;
  /** Identity of the open stall, timeout or retransmission, such as `event-7`. */
  event?: string;
  /** Index of the open link in the chain of causes of that event. */
  link?: number;
  /** Key of a second run on the same axis. */
  other?: string;
}

/** Opening an event adds an entry to the browser's history. Moving the visible time replaces the current entry. */
export type How = 'push' | 'replace';

/** Decimal places of instants in the address. */
const PLACES = 5;

export function readView(hash: string): View {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const view: View = {};
  const connection = count(parts.get('c'));
  if (connection !== undefined) view.connection = connection;
  const [from, to] = (parts.get('t') ?? '').split('-').map(Number);
  if (from !== undefined && to !== undefined && from >= 0 && to > from) {
    view.from = from;
    view.to = to;
  }
  const event = parts.get('e');
  if (event && /^(stall|event)-\d{1,9}$/.test(event)) view.event = event;
  const link = count(parts.get('l'));
  if (link !== undefined && view.event) view.link = link;
  const other = parts.get('with');
  if (other && /^[\w.-]{1,100}$/.test(other)) view.other = other;
  return view;
}

function count(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

export function viewAddress(view: View): string {
  const parts: string[] = [];
  if (view.connection !== undefined) parts.push(`c=${view.connection}`);
  if (view.from !== undefined && view.to !== undefined) parts.push(`t=${instant(view.from)}-${instant(view.to)}`);
  if (view.event !== undefined) parts.push(`e=${view.event}`);
  if (view.event !== undefined && view.link !== undefined) parts.push(`l=${view.link}`);
  if (view.other !== undefined) parts.push(`with=${view.other}`);
  return parts.length ? `#${parts.join('&')}` : '';
}

const instant = (time: number) => String(Number(time.toFixed(PLACES)));

const listeners = new Set<() => void>();

/** Writes a view into the address. */
export function setView(view: View, how: How = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', location.pathname + location.search + viewAddress(view));
  for (const listener of listeners) listener();
}

/** The part of the address's view that `select` returns. The component renders again only if that part changes. */
export function useView<T>(select: (view: View) => T): T {
  const [selected, set] = useState(() => select(readView(location.hash)));
  useEffect(() => {
    const update = () => set(() => select(readView(location.hash)));
    listeners.add(update);
    addEventListener('popstate', update);
    return () => {
      listeners.delete(update);
      removeEventListener('popstate', update);
    };
  }, []);
  return selected;
}
