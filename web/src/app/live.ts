import { useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../api/client';

type LiveSession = Schemas['Live'];
type LiveEmulation = Schemas['LiveEmulation'];

/** A message of the server: `models.State`. */
interface State {
  jobs: Schemas['JobState'][];
  sessions: Schemas['LiveRow'][];
  emulations: Schemas['LiveRow'][];
  live: LiveSession | null;
  emulation: LiveEmulation | null;
  live_number: number;
  live_problem: string | null;
  live_run: string | null;
}

export interface Live {
  jobs: State['jobs'];
  sessions: State['sessions'];
  /** The running emulations. */
  emulations: State['emulations'];
  /** The watched live session, as soon as its first state is here. */
  session: LiveSession | undefined;
  /** The watched emulation, as soon as its first state is here. */
  emulation: LiveEmulation | undefined;
  /** Why there is no such session or emulation. */
  problem: string | undefined;
  /** The stored run of the watched emulation, after its end. */
  run: string | undefined;
  /** When the server was last heard, or undefined while it is connected. */
  lostAt: Date | undefined;
  /** Shows a live session, an emulation, or none. */
  watch: (session: string | null) => void;
}

/** Pause before the connection is opened again. */
const RETRY_MS = 2000;

/** The state that the server sends over the one WebSocket of this tab. */
export function useLive(): Live {
  const [live, set] = useState<Omit<Live, 'watch'>>({
    jobs: [],
    sessions: [],
    emulations: [],
    session: undefined,
    emulation: undefined,
    problem: undefined,
    run: undefined,
    lostAt: undefined,
  });
  const socket = useRef<WebSocket | undefined>(undefined);
  const watched = useRef<string | null>(null);
  const send = (shown: number) => {
    if (socket.current?.readyState === WebSocket.OPEN) socket.current.send(JSON.stringify({ watch: watched.current, shown }));
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const open = () => {
      const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/socket`);
      socket.current = opened;
      opened.onopen = () => {
        if (watched.current !== null) send(0);
      };
      opened.onmessage = (event) => {
        const state = JSON.parse(String(event.data)) as State;
        const isWatched = (shown: { id: string } | null) => shown?.id === watched.current;
        set({
          jobs: state.jobs,
          sessions: state.sessions,
          emulations: state.emulations,
          session: isWatched(state.live) ? (state.live ?? undefined) : undefined,
          emulation: isWatched(state.emulation) ? (state.emulation ?? undefined) : undefined,
          problem: state.live_problem ?? undefined,
          run: state.live_run ?? undefined,
          lostAt: undefined,
        });
        // After it is drawn, and a hidden tab draws nothing: it gets the latest state when it is shown again.
        if (state.live_number) requestAnimationFrame(() => send(state.live_number));
      };
      opened.onclose = () => {
        if (isOver) return;
        set((before) => ({ ...before, lostAt: before.lostAt ?? new Date() }));
        timer = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      isOver = true;
      clearTimeout(timer);
      socket.current?.close();
    };
  }, []);
  const watch = (session: string | null) => {
    watched.current = session;
    set((before) => ({ ...before, session: undefined, emulation: undefined, problem: undefined, run: undefined }));
    send(0);
  };
  return { ...live, watch };
}
