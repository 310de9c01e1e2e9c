import { useEffect, useState } from 'preact/hooks';
import type { Schemas } from '../api/client';

type State = Schemas['State'];

export interface Live {
  jobs: State['jobs'];
  /** When the server was last heard, or undefined while it is connected. */
  lostAt: Date | undefined;
}

/** Pause before the connection is opened again. */
const RETRY_MS = 2000;

/** The state that the server sends over the one WebSocket of this tab. */
export function useLive(): Live {
  const [live, set] = useState<Live>({ jobs: [], lostAt: undefined });
  useEffect(() => {
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const open = () => {
      socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/socket`);
      socket.onmessage = (event) => {
        set({ jobs: (JSON.parse(String(event.data)) as State).jobs, lostAt: undefined });
      };
      socket.onclose = () => {
        if (isOver) return;
        set((before) => ({ ...before, lostAt: before.lostAt ?? new Date() }));
        timer = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      isOver = true;
      clearTimeout(timer);
      socket?.close();
    };
  }, []);
  return live;
}
