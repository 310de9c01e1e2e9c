import { useEffect, useState } from 'preact/hooks';
import { path } from '../api/client';
import { usePage } from '../app/context';
import { Section, Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';
import { type Chain, ChainPanel } from './ChainPanel';
import type { Stalls } from './StallTable';
import type { How, View } from './view';

interface Props {
  id: string;
  stalls: Stalls;
  view: View;
  setView: (view: View, how?: How) => void;
}

/** Timeouts and retransmissions one by one, each with its chain of causes. */
export function Timeline({ id, stalls, view, setView }: Props) {
  const { say } = usePage();
  const [ofUe, setOfUe] = useState<number | undefined>();
  const loaded = useLoaded<Chain>(view.event === undefined ? undefined : path`/api/runs/${id}/chains/${view.event}`);
  const chain = loaded.content?.id === view.event ? loaded.content : undefined;
  const stall = stalls.stalls.find((one) => one.id === view.event);
  const index = stalls.events.findIndex((one) => one.id === view.event);
  const inScope = (ue: number) => ofUe === undefined || ue === ofUe;
  const ues = [...new Set(stalls.events.map((one) => one.ue))].sort((a, b) => a - b);

  const open = (event: string, connection: number) => setView({ ...without(view, 'link'), connection, event });
  const close = () => setView(without(view, 'event', 'link'));
  const step = (by: 1 | -1) => {
    const found = neighbour(stalls, index, stall?.start_s, by, inScope);
    if (found) open(found.id, found.connection);
    else say(`No ${by > 0 ? 'later' : 'earlier'} timeout or retransmission of ${ofUe === undefined ? 'this run' : `UE ${ofUe}`}.`);
    return found !== undefined;
  };

  useEffect(() => {
    if (chain) say(chain.spoken);
  }, [chain?.id]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === 'n' || event.key === 'p') step(event.key === 'n' ? 1 : -1);
      else if (event.key === 'Escape' && view.event) close();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  // A chain that was opened elsewhere on the page is read from its heading on.
  useEffect(() => {
    const isHere = document.activeElement?.closest('#timeline');
    if (chain && !isHere) document.getElementById('chain')?.focus();
  }, [chain?.id]);

  return (
    <div id="timeline">
      <Section
        title="Timeouts and retransmissions"
        note="Each has a chain of causes. Keys: N next, P previous, Esc close."
      >
        <div class="bar2 noprint">
          <div class="kinds" role="group" aria-label="Timeouts and retransmissions">
            <button type="button" disabled={!stalls.event_count} onClick={() => step(-1)}>
              ‹ Previous
            </button>
            <button type="button" disabled={!stalls.event_count} onClick={() => step(1)}>
              Next ›
            </button>
          </div>
          <label>
            of{' '}
            <select
              aria-label="Timeouts and retransmissions of"
              value={ofUe === undefined ? '' : String(ofUe)}
              onChange={(event) => setOfUe(event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value))}
            >
              <option value="">all UEs</option>
              {ues.map((ue) => (
                <option key={ue} value={String(ue)}>
                  UE {ue}
                </option>
              ))}
            </select>
          </label>
          <span class="small">{position(stalls, index)}</span>
        </div>
        <Waiting of={loaded} what="the chain of causes" />
        {chain && (
          <ChainPanel chain={chain} link={view.link} chooseLink={(link) => setView({ ...view, link })} close={close} />
        )}
      </Section>
    </div>
  );
}

function position(stalls: Stalls, index: number): string {
  const most = stalls.events.length < stalls.event_count ? ` Those after the first ${stalls.events.length} are in umts why.` : '';
  const counts = `${stalls.timeouts} timeouts, ${stalls.event_count - stalls.timeouts} retransmissions.`;
  return index < 0 ? counts + most : `Number ${index + 1} of ${stalls.event_count}: ${counts}${most}`;
}

/** The next or previous event: of the open one, of the instant of the open stall, or the first or last of all. */
function neighbour(stalls: Stalls, index: number, stallAt: number | undefined, by: 1 | -1, inScope: (ue: number) => boolean) {
  const { events } = stalls;
  const after = (i: number) => (by > 0 ? events.slice(i + 1) : events.slice(0, i).reverse());
  const candidates =
    index >= 0
      ? after(index)
      : by > 0
        ? events.filter((one) => one.time_s >= (stallAt ?? 0))
        : events.filter((one) => one.time_s <= (stallAt ?? Number.POSITIVE_INFINITY)).reverse();
  return candidates.find((one) => inScope(one.ue));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable]') !== null;
}

function without(view: View, ...names: (keyof View)[]): View {
  return Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name as keyof View)));
}
